// SPDX-License-Identifier: BSD-3-Clause
// What searches weigh against each other, in hops.
#pragma once

namespace trefoil {

// What the default cost model takes for a step, and for a further message through a port in a step
// of those that have most. They are the same in every job, so that all ranks find the same.
inline constexpr int step_in_hops = 10;
inline constexpr int further_message_in_hops = 5;

/// More messages through a port are not tried.
inline constexpr int most_per_port = 4;

/// `per_port`: messages through one port in a step, at most.
constexpr int price(int steps, int per_port, int hops) {
    return steps * step_in_hops + (per_port - 1) * further_message_in_hops + hops;
}

}  // namespace trefoil
