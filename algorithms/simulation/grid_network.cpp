// SPDX-License-Identifier: BSD-3-Clause
// Routes along rows, dimension after dimension.
#include "algorithms/simulation/grid_network.hpp"

#include <utility>

#include "topo/error.hpp"

namespace trefoil {

GridNetwork::GridNetwork(Torus torus, std::vector<GridDimension> dimensions)
    : Network(std::move(torus)), dimensions_(std::move(dimensions)) {
    std::int64_t next = 0;
    for (int j = 0; j < this->torus().dimensions(); ++j) {
        const bool full = dimensions_[j].kind == RowKind::full;
        first_link_.push_back(next);
        per_rank_.push_back(full ? this->torus().size(j) - 1 : 2);
        const std::int64_t count = per_rank_.back() * this->torus().ranks();
        add_links(count, dimensions_[j].rate);
        next += count;
    }
    for (int j = 0; j < this->torus().dimensions(); ++j) {
        for (Rank r = 0; dimensions_[j].kind == RowKind::line && r < this->torus().ranks(); ++r) {
            const Rank at = this->torus().coordinate(r, j);
            if (at == this->torus().size(j) - 1) {
                set_rate(port_link(r, Port::plus(j)), 0);
            }
            if (at == 0) {
                set_rate(port_link(r, Port::minus(j)), 0);
            }
        }
    }
}

std::optional<std::int64_t> GridNetwork::link(Rank rank, Port port) const {
    if (dimensions_[port.dimension()].kind == RowKind::full) {
        return std::nullopt;
    }
    return port_link(rank, port);
}

std::int64_t GridNetwork::port_link(Rank rank, Port port) const {
    const int j = port.dimension();
    return first_link_[j] + std::int64_t{rank} * per_rank_[j] + (port.sign() > 0 ? 0 : 1);
}

std::int64_t GridNetwork::full_link(Rank rank, int dimension, Rank distance) const {
    return first_link_[dimension] + std::int64_t{rank} * per_rank_[dimension] + distance - 1;
}

bool GridNetwork::works(Rank from, const Run& run) const {
    for (Rank i = 0; i < run.count; ++i) {
        if (rate(port_link(from, run.port)) == 0) {
            return false;
        }
        from = torus().neighbour(from, run.port);
    }
    return true;
}

std::vector<GridNetwork::Run> GridNetwork::runs(Rank from, Rank to, int dimension,
                                                std::optional<Port> steered) const {
    const Rank size = torus().size(dimension);
    const Rank up =
        (torus().coordinate(to, dimension) - torus().coordinate(from, dimension) + size) % size;
    const Run plus{Port::plus(dimension), up}, minus{Port::minus(dimension), size - up};
    const bool plus_works = works(from, plus), minus_works = works(from, minus);
    if (!plus_works && !minus_works) {
        throw Error(Status::unsupported, "links that are down leave no way from rank " +
                                             std::to_string(from) + " to rank " +
                                             std::to_string(to) + " along dimension " +
                                             std::to_string(dimension));
    }
    if (!plus_works || !minus_works) {
        return {plus_works ? plus : minus};
    }
    if (plus.count != minus.count) {
        return {plus.count < minus.count ? plus : minus};
    }
    if (steered && steered->dimension() == dimension) {
        return {steered->sign() > 0 ? plus : minus};
    }
    return {plus, minus};
}

void GridNetwork::route(Rank from, Rank to, std::optional<Port> steered, Ways& ways) const {
    // A way for each combination of the equally long runs: bit i chooses in the i-th such
    // dimension.
    std::vector<std::vector<Run>> by_dimension(dimensions_.size());
    std::size_t ties = 0;
    Rank here = from;
    for (int j = 0; j < torus().dimensions(); ++j) {
        const Rank there = torus().with_coordinate(here, j, torus().coordinate(to, j));
        if (there != here && dimensions_[j].kind != RowKind::full) {
            by_dimension[j] = runs(here, there, j, steered);
            ties += by_dimension[j].size() - 1;
        }
        here = there;
    }
    ways.clear();
    for (std::size_t choice = 0; choice < std::size_t{1} << ties; ++choice) {
        ways.begin(1.0 / static_cast<double>(std::size_t{1} << ties));
        here = from;
        std::size_t tie = 0;
        for (int j = 0; j < torus().dimensions(); ++j) {
            const Rank there = torus().with_coordinate(here, j, torus().coordinate(to, j));
            if (there != here && dimensions_[j].kind == RowKind::full) {
                const Rank size = torus().size(j);
                ways.add(full_link(
                    here, j,
                    (torus().coordinate(there, j) - torus().coordinate(here, j) + size) % size));
            } else if (there != here) {
                const auto& runs = by_dimension[j];
                const Run& run = runs.size() == 1 ? runs[0] : runs[choice >> tie++ & 1];
                for (Rank i = 0, at = here; i < run.count;
                     ++i, at = torus().neighbour(at, run.port)) {
                    ways.add(port_link(at, run.port));
                }
            }
            here = there;
        }
    }
}

}  // namespace trefoil
