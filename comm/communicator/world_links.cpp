// SPDX-License-Identifier: BSD-3-Clause
// The links of a job: whom a rank has behind its ports, and what is found out about them.
#include <utility>

#include "comm/communicator/world.hpp"
#include "topo/fabric.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

std::vector<std::pair<Rank, Port>> neighbours_of(const Geometry& geometry, Rank rank) {
    std::vector<std::pair<Rank, Port>> all;
    const Torus& torus = geometry.map.torus;
    const Rank place = geometry.map.position_of[static_cast<std::size_t>(rank)];
    if (const Fabric* const fabric = torus.fabric()) {
        for (int p = 0; p < fabric->torus().ports(); ++p) {
            const Link link{fabric->place_of(place), Port{p}};
            if (fabric->rate(link) == 0) {
                continue;
            }
            const Rank there = fabric->neighbour(link);
            if (there != link.from && fabric->rate({there, link.port.opposite()}) > 0) {
                const auto position = static_cast<std::size_t>(fabric->rank_of(there));
                all.push_back({geometry.map.rank_at[position], link.port});
            }
        }
        return all;
    }
    for (const Port port : used_ports(torus)) {
        const Rank there = torus.neighbour(place, port);
        all.push_back(
            {geometry.map.rank_at[static_cast<std::size_t>(there)], geometry.port_of(port)});
    }
    return all;
}

Fabric World::fabric() const {
    const Torus& torus = geometry_.map.torus;
    if (torus.has_nodes()) {
        throw Error(Status::unsupported,
                    "TREFOIL_LINKS finds out about links between nodes of one rank, but torus " +
                        torus.name() + " has nodes of several; leave it out");
    }
    return Fabric(torus);
}

void World::describe(Fabric fabric, std::string_view by) {
    if (!fabric.is_connected()) {
        throw Error(Status::unsupported, "by " + std::string(by) + " the network is " +
                                             fabric.name() +
                                             ", where the links that work do not join all ranks; "
                                             "bring links up, or leave TREFOIL_LINKS out");
    }
    const Torus torus = Torus::of_fabric(std::move(fabric));
    if (torus == geometry_.map.torus) {
        return;
    }
    geometry_.map.torus = torus;
    geometry_.map.source += ", with its links by " + std::string(by);
    if (rank() == 0) {
        log_info(LogTopic::setup,
                 [&] { return "by " + std::string(by) + " the network is " + torus.name(); });
    }
}

}  // namespace trefoil
