// SPDX-License-Identifier: BSD-3-Clause
// Routes along rows, dimension after dimension.
#include "algorithms/simulation/grid_network.hpp"

#include <algorithm>
#include <utility>

#include "topo/error.hpp"

namespace trefoil {

namespace {

// Links of boards beside those of its lines, and of hosts.
constexpr std::int64_t up = 2, down = 3, board_links = 4;
constexpr std::int64_t out = 0, in = 1;

}  // namespace

GridNetwork::GridNetwork(Torus torus, std::vector<GridDimension> dimensions)
    : Network(std::move(torus)), dimensions_(std::move(dimensions)) {
    for (int j = 0; j < this->torus().dimensions(); ++j) {
        const GridDimension& dimension = dimensions_[static_cast<std::size_t>(j)];
        const Rank board = dimension.board;
        if (dimension.kind == RowKind::boards && (board < 2 || this->torus().size(j) % board)) {
            throw Error(Status::invalid_argument,
                        "boards of " + std::to_string(board) + " ranks do not divide dimension " +
                            std::to_string(j) + " of the " + this->torus().name() +
                            " network; take another size or other boards, of at least 2");
        }
    }
    lay_links();
}

GridNetwork::GridNetwork(const GridNetwork& other, std::shared_ptr<const Symmetry> symmetry)
    : Network(other.torus()), dimensions_(other.dimensions_), symmetry_(std::move(symmetry)) {
    lay_links();
}

std::unique_ptr<Network> GridNetwork::folded(std::shared_ptr<const Symmetry> symmetry) const {
    return std::unique_ptr<Network>(new GridNetwork(*this, std::move(symmetry)));
}

void GridNetwork::lay_links() {
    const std::int64_t nodes = symmetry_ ? symmetry_->classes() : torus().ranks();
    for (int j = 0; j < torus().dimensions(); ++j) {
        const GridDimension& dimension = dimensions_[static_cast<std::size_t>(j)];
        first_link_.push_back(links());
        per_rank_.push_back(dimension.kind == RowKind::full     ? torus().size(j) - 1
                            : dimension.kind == RowKind::boards ? board_links
                                                                : 2);
        add_links(per_rank_.back() * nodes, dimension.rate);
    }
}

bool GridNetwork::keeps(Rank translation) const {
    if (translation % torus().per_node() != 0) {
        return false;  // it carries links over into themselves
    }
    for (int j = 0; j < torus().dimensions(); ++j) {
        const GridDimension& dimension = dimensions_[static_cast<std::size_t>(j)];
        const Rank by = torus().coordinate(translation, j);
        if ((dimension.kind == RowKind::line && by != 0) ||
            (dimension.kind == RowKind::boards && by % dimension.board != 0)) {
            return false;
        }
    }
    return true;
}

std::int64_t GridNetwork::port_link(Rank rank, Port port) const {
    const int j = port.dimension();
    const GridDimension& dimension = dimensions_[static_cast<std::size_t>(j)];
    const bool both_ports = dimension.links == 1 && torus().size(j) == 2;
    return place(rank, j, port.sign() > 0 || both_ports ? 0 : 1);
}

std::optional<std::int64_t> GridNetwork::link(Rank rank, Port port) const {
    const int j = port.dimension();
    const GridDimension& dimension = dimensions_[static_cast<std::size_t>(j)];
    const Rank at = torus().coordinate(rank, j);
    if (dimension.kind == RowKind::full || dimension.kind == RowKind::host) {
        return std::nullopt;
    }
    const Rank size = dimension.kind == RowKind::boards ? dimension.board : torus().size(j);
    if (dimension.kind != RowKind::ring && at % size == (port.sign() > 0 ? size - 1 : 0)) {
        return dimension.kind == RowKind::boards ? std::optional(place(rank, j, up)) : std::nullopt;
    }
    return port_link(rank, port);
}

void GridNetwork::RowWays::add(const RowWay& way) {
    ways[count++] = way;
}

void GridNetwork::RowWays::keep_shortest() {
    Rank shortest = ways[0].length();
    for (std::size_t i = 1; i < count; ++i) {
        shortest = std::min(shortest, ways[i].length());
    }
    const auto end = std::remove_if(ways, ways + count,
                                    [&](const RowWay& way) { return way.length() > shortest; });
    count = static_cast<std::size_t>(end - ways);
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

void GridNetwork::ring_ways(const Journey& journey, Rank from, Rank to, int dimension,
                            RowWays& ways) const {
    const GridDimension& row = dimensions_[static_cast<std::size_t>(dimension)];
    const Rank size = torus().size(dimension);
    const Rank ahead = torus().coordinate(to, dimension) - torus().coordinate(from, dimension);
    RowWay plus, minus;
    plus.out = {Port::plus(dimension), (ahead + size) % size};
    minus.out = {Port::minus(dimension), size - plus.out.count};
    const bool one_link = size == 2 && row.links == 1;
    const bool around = row.kind == RowKind::ring;
    const bool plus_works = (around || ahead > 0) && (!changed() || works(from, plus.out));
    const bool minus_works =
        (around || ahead < 0) && !one_link && (!changed() || works(from, minus.out));
    if (!plus_works && !minus_works) {
        throw Error(Status::unsupported, "links that are down leave no way from rank " +
                                             std::to_string(from) + " to rank " +
                                             std::to_string(to) + " along dimension " +
                                             std::to_string(dimension));
    }
    const bool tie = plus_works && minus_works && plus.out.count == minus.out.count;
    const bool steered = tie && journey.steered && journey.port.dimension() == dimension;
    if (plus_works && (!steered || journey.port.sign() > 0)) {
        ways.add(plus);
    }
    if (minus_works && (!steered || journey.port.sign() < 0)) {
        ways.add(minus);
    }
    ways.keep_shortest();
}

// Out at either end of the board and in at either end of the other one; the shortest are kept.
void GridNetwork::board_ways(Rank from, Rank to, int dimension, RowWays& ways) const {
    const Rank size = dimensions_[static_cast<std::size_t>(dimension)].board;
    const Rank start = torus().coordinate(from, dimension), end = torus().coordinate(to, dimension);
    const Rank here = start % size, there = end % size;
    const auto run = [&](Rank distance) {
        return Run{Port::towards(dimension, distance > 0 ? 1 : -1),
                   distance > 0 ? distance : -distance};
    };
    if (start / size == end / size) {
        RowWay direct;
        direct.out = run(there - here);
        ways.add(direct);
    }
    for (const Rank left : {0, size - 1}) {
        for (const Rank entered : {0, size - 1}) {
            RowWay way;
            way.out = run(left - here);
            const Rank exit = torus().with_coordinate(from, dimension, start - here + left);
            way.entry = torus().with_coordinate(from, dimension, end - there + entered);
            if (exit == way.entry) {
                continue;
            }
            way.crossed = 2;
            way.across[0] = place(exit, dimension, up);
            way.across[1] = place(way.entry, dimension, down);
            way.in = run(there - entered);
            ways.add(way);
        }
    }
    ways.keep_shortest();
}

void GridNetwork::row_ways(const Journey& journey, Rank from, Rank to, int dimension,
                           RowWays& ways) const {
    RowWay direct;
    switch (dimensions_[static_cast<std::size_t>(dimension)].kind) {
        case RowKind::ring:
        case RowKind::line:
            ring_ways(journey, from, to, dimension, ways);
            return;
        case RowKind::boards:
            board_ways(from, to, dimension, ways);
            return;
        case RowKind::full: {
            const Rank size = torus().size(dimension);
            const Rank ahead =
                torus().coordinate(to, dimension) - torus().coordinate(from, dimension);
            direct.crossed = 1;
            direct.across[0] = place(from, dimension, (ahead + size) % size - 1);
            break;
        }
        case RowKind::host:
            direct.crossed = 2;
            direct.across[0] = place(from, dimension, out);
            direct.across[1] = place(to, dimension, in);
            break;
    }
    direct.entry = to;
    ways.add(direct);
}

void GridNetwork::walk(Rank from, const Run& run, Ways& ways) const {
    for (Rank i = 0; i < run.count; ++i) {
        ways.add(port_link(from, run.port));
        from = torus().neighbour(from, run.port);
    }
}

void GridNetwork::route(const Journey& journey, Ways& ways) const {
    struct Leg {
        Rank from;
        int dimension;
        RowWays rows;
    };
    constexpr std::size_t few = 8;  // dimensions for which the stack has room
    Leg on_stack[few];
    std::vector<Leg> more(torus().dimensions() > static_cast<int>(few)
                              ? static_cast<std::size_t>(torus().dimensions())
                              : 0);
    Leg* const legs = more.empty() ? on_stack : more.data();
    std::size_t count = 0, all = 1;
    Rank here = journey.from;
    for (int j = 0; j < torus().dimensions(); ++j) {
        const Rank there = torus().with_coordinate(here, j, torus().coordinate(journey.to, j));
        // What comes from another node is put where it belongs, whichever rank that is.
        const bool crosses_memory = torus().is_host(j) && count > 0;
        if (there != here && !crosses_memory) {
            Leg& leg = legs[count++];
            leg.from = here;
            leg.dimension = j;
            leg.rows.count = 0;
            row_ways(journey, here, there, j, leg.rows);
            all *= leg.rows.count;
        }
        here = there;
    }
    // A way for each combination of the rows' ways; the number of the combination chooses in each.
    ways.clear();
    for (std::size_t combination = 0; combination < all; ++combination) {
        ways.begin(1.0 / static_cast<double>(all));
        std::size_t rest = combination;
        for (std::size_t i = 0; i < count; ++i) {
            const Leg& leg = legs[i];
            const RowWay& way = leg.rows.ways[rest % leg.rows.count];
            rest /= leg.rows.count;
            walk(leg.from, way.out, ways);
            const GridDimension& row = dimensions_[static_cast<std::size_t>(leg.dimension)];
            for (int k = 0; k < way.crossed; ++k) {
                if (row.kind == RowKind::host) {
                    ways.add(way.across[k], k == 0 ? row.latency : 0);
                } else {
                    ways.add(way.across[k]);
                }
            }
            walk(way.entry, way.in, ways);
        }
    }
    require_working(journey, ways);
}

}  // namespace trefoil
