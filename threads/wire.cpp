// SPDX-License-Identifier: BSD-3-Clause
// Channels in words.
#include "threads/wire.hpp"

#include <algorithm>

namespace trefoil {

std::string own_text(const Wire& wire, Port own) {
    std::string place;
    for (const auto& group : wire.groups) {
        const std::vector<Port>& ports = group->ports();
        if (std::find(ports.begin(), ports.end(), own) != ports.end()) {
            place = group->port_text(own);
        }
    }
    return "direction " + to_string(own) + " of rank " + std::to_string(wire.rank) + " (host " +
           wire.host + ", NIC " + place + ")";
}

std::string peer_text(const Wire& wire, Rank peer, Port port) {
    const auto known = wire.peer_places.find({peer, port.index});
    return "direction " + to_string(port) + " of rank " + std::to_string(peer) +
           (known == wire.peer_places.end() ? "" : " (" + known->second + ")");
}

std::string route_text(const Wire& wire, Port own, Rank peer) {
    return own_text(wire, own) + " to " + peer_text(wire, peer, own.opposite());
}

}  // namespace trefoil
