// SPDX-License-Identifier: BSD-3-Clause
// Each incoming channel once.
#include "algorithms/schedule/acknowledgements.hpp"

#include <algorithm>

namespace trefoil {

std::vector<IncomingChannel> acknowledgements(const Schedule& schedule,
                                              const CollectiveTraits& collective) {
    std::vector<IncomingChannel> channels;
    if (collective.synchronises) {
        return channels;
    }
    for (const Receive& receive : schedule.receives) {
        channels.push_back({receive.peer, receive.port});
    }
    std::sort(channels.begin(), channels.end());
    channels.erase(std::unique(channels.begin(), channels.end()), channels.end());
    return channels;
}

}  // namespace trefoil
