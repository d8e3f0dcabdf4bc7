// SPDX-License-Identifier: BSD-3-Clause
// Up and down.
#include "algorithms/simulation/switch_network.hpp"

#include <utility>

namespace trefoil {

SwitchNetwork::SwitchNetwork(Torus torus, double rate, std::shared_ptr<const Symmetry> symmetry)
    : Network(std::move(torus)), rate_(rate), symmetry_(std::move(symmetry)) {
    const std::int64_t nodes = symmetry_ ? symmetry_->classes() : this->torus().ranks();
    add_links(2 * this->torus().ports() * nodes, rate);
}

std::unique_ptr<Network> SwitchNetwork::folded(std::shared_ptr<const Symmetry> symmetry) const {
    return std::make_unique<SwitchNetwork>(torus(), rate_, std::move(symmetry));
}

std::int64_t SwitchNetwork::place(Rank rank, Port port) const {
    const Rank node = symmetry_ ? symmetry_->class_of(rank) : rank;
    return 2 * (std::int64_t{node} * torus().ports() + port.index);
}

std::optional<std::int64_t> SwitchNetwork::link(Rank rank, Port port) const {
    return place(rank, port);
}

void SwitchNetwork::route(const Journey& journey, Ways& ways) const {
    const std::int64_t up = place(journey.from, journey.port);
    const std::int64_t down = place(journey.to, journey.port.opposite()) + 1;
    ways.clear();
    ways.begin(1);
    ways.add(up);
    ways.add(down);
    require_working(journey, ways);
}

}  // namespace trefoil
