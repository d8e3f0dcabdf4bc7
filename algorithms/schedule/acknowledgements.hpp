// SPDX-License-Identifier: BSD-3-Clause
// What a rank acknowledges in calls that do not synchronise all ranks.
#pragma once

#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace trefoil {

/// From whom, and through which own port, messages come to a rank.
struct IncomingChannel {
    Rank peer = 0;
    Port port;
    friend auto operator<=>(const IncomingChannel&, const IncomingChannel&) = default;
};

/// Where all ranks hear from all (CollectiveTraits::synchronises, which the verifier proves),
/// nobody can be overrun and nothing is acknowledged. Elsewhere a rank tells the senders of a
/// segment's messages that it has begun it, once through each port, and a sender waits for that two
/// segments later; where messages are small, every 32nd time, and much later. Sorted. Channels
/// whose messages are empty at a call's length are left out there.
std::vector<IncomingChannel> acknowledgements(const Schedule& schedule,
                                              const CollectiveTraits& collective);

}  // namespace trefoil
