// SPDX-License-Identifier: BSD-3-Clause
// What searches weigh against each other, as the default cost model does. It is the same in every
// job, so that all ranks find the same.
#pragma once

namespace trefoil {

inline constexpr int step_in_hops = 10;
/// Of a further message through one port in a step, of those that have most.
inline constexpr int further_message_in_hops = 5;
/// More messages through a port are not tried.
inline constexpr int most_per_port = 4;

/// In half hops. `per_port`: messages through one port in a step, at most. `stored`: sums that a
/// rank stores before it adds them.
constexpr int price(int steps, int per_port, int hops, int stored) {
    return 2 * (steps * step_in_hops + (per_port - 1) * further_message_in_hops + hops) + stored;
}

}  // namespace trefoil
