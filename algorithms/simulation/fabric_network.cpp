// SPDX-License-Identifier: BSD-3-Clause
// Links by place and port.
#include "algorithms/simulation/fabric_network.hpp"

#include <utility>

namespace trefoil {

FabricNetwork::FabricNetwork(Torus torus, double rate)
    : Network(std::move(torus)), fabric_(*this->torus().fabric()), rate_(rate) {
    const Torus& places = fabric_.torus();
    add_links(std::int64_t{places.ranks()} * places.ports(), rate);
    for (Rank at = 0; at < places.ranks(); ++at) {
        for (int p = 0; p < places.ports(); ++p) {
            const Link link{at, Port{p}};
            if (const int works = fabric_.rate(link); works < Fabric::whole) {
                change_rate(place(link), rate * works / Fabric::whole);
            }
        }
    }
}

std::optional<std::int64_t> FabricNetwork::link(Rank rank, Port port) const {
    const Link link{fabric_.place_of(rank), port};
    return fabric_.has_link(link) ? std::optional(place(link)) : std::nullopt;
}

void FabricNetwork::route(const Journey& journey, Ways& ways) const {
    ways.clear();
    ways.begin(1);
    for (const Link& link : fabric_.route(journey.from, journey.to, journey.port)) {
        ways.add(place(link));
    }
    require_working(journey, ways);
}

/// There is nothing to fold.
std::unique_ptr<Network> FabricNetwork::folded(std::shared_ptr<const Symmetry>) const {
    return std::make_unique<FabricNetwork>(torus(), rate_);
}

}  // namespace trefoil
