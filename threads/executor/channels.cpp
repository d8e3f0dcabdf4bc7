// SPDX-License-Identifier: BSD-3-Clause
// Channels in words.
#include "threads/executor/channels.hpp"

#include <algorithm>

namespace trefoil {

std::string own_text(const Channels& channels, Port own) {
    std::string place;
    for (const auto& group : channels.groups) {
        const std::vector<Port>& ports = group->ports();
        if (std::find(ports.begin(), ports.end(), own) != ports.end()) {
            place = group->port_text(own);
        }
    }
    return "direction " + to_string(own) + " of rank " + std::to_string(channels.rank) + " (host " +
           channels.host + ", NIC " + place + ")";
}

std::string peer_text(const Channels& channels, Rank peer, Port port) {
    const auto known = channels.peer_places.find({peer, port.index});
    return "direction " + to_string(port) + " of rank " + std::to_string(peer) +
           (known == channels.peer_places.end() ? "" : " (" + known->second + ")");
}

std::string route_text(const Channels& channels, Port own, Rank peer) {
    return own_text(channels, own) + " to " + peer_text(channels, peer, own.opposite());
}

std::string route_text(const Channels& channels, const OutChannel& channel) {
    return route_text(channels, channel.port, channel.peer);
}

}  // namespace trefoil
