// SPDX-License-Identifier: BSD-3-Clause
// Tables of all pairs of ranks.
#include "algorithms/search/ways.hpp"

#include <algorithm>
#include <numeric>

#include "topo/fabric.hpp"

namespace trefoil {

namespace {

constexpr WayTable::Ports bit_of(Port port) {
    return WayTable::Ports{1} << port.index;
}

/// Its link leads somewhere, as far as the torus says which link is behind it.
bool has_link(const Torus& torus, Rank rank, Port port) {
    if (const Fabric* const fabric = torus.fabric()) {
        return fabric->has_missing_nodes() || fabric->has_twists() ||
               fabric->rate({rank, port}) > 0;
    }
    const Rank last = port.sign() > 0 ? torus.size(port.dimension()) - 1 : 0;
    return !torus.is_line(port.dimension()) || torus.coordinate(rank, port.dimension()) != last;
}

WayTable::Ports ports_of_ways(const Torus& torus, Rank from, Rank to) {
    WayTable::Ports shortest = 0, working = 0;
    for (int j = 0; j < torus.dimensions(); ++j) {
        const bool tie = torus.is_tie(from, to, j);
        const bool both = tie && !torus.is_line(j);
        // The verifier asks for the ring's way; on a tie it takes either, and a line has one.
        const std::int64_t apart = tie ? torus.way(from, to, j) : torus.displacement(from, to, j);
        for (const Port port : {Port::plus(j), Port::minus(j)}) {
            const bool leads = apart != 0 && (both || (apart > 0) == (port.sign() > 0));
            shortest |= leads ? bit_of(port) : 0;
            working |= leads && has_link(torus, from, port) ? bit_of(port) : 0;
        }
    }
    return working != 0 ? working : shortest;
}

}  // namespace

WayTable::WayTable(const Torus& torus) : ranks_(torus.ranks()), ports_(torus.ports()) {
    const bool by_links = torus.fabric() != nullptr && torus.fabric()->has_twists();
    const auto links = by_links ? torus.fabric()->links() : std::vector<FabricLink>();
    for (Rank from = 0; from < ranks_; ++from) {
        if (by_links) {  // those are all over the fewest links
            const std::vector<int> all = hops_along(links, ranks_, from);
            hops_.insert(hops_.end(), all.begin(), all.end());
        }
        for (Rank to = 0; to < ranks_; ++to) {
            if (!by_links) {
                hops_.push_back(static_cast<int>(torus.route_length(from, to)));
            }
            allowed_.push_back(ports_of_ways(torus, from, to));
        }
    }
}

WayTable::Ports WayTable::ports_of(Rank from) const {
    Ports all = 0;
    for (Rank to = 0; to < ranks_; ++to) {
        all |= ports_between(from, to);
    }
    return all;
}

int WayTable::eccentricity(Rank from) const {
    int most = 0;
    for (Rank to = 0; to < ranks_; ++to) {
        most = std::max(most, hops(from, to));
    }
    return most;
}

std::vector<std::vector<Rank>> WayTable::nearest() const {
    std::vector<std::vector<Rank>> near(to_index(ranks_), std::vector<Rank>(to_index(ranks_)));
    for (Rank to = 0; to < ranks_; ++to) {
        std::vector<Rank>& list = near[to_index(to)];
        std::iota(list.begin(), list.end(), 0);
        std::stable_sort(list.begin(), list.end(),
                         [&](Rank a, Rank b) { return hops(a, to) < hops(b, to); });
    }
    return near;
}

WayTable WayTable::reversed() const {
    WayTable back;
    back.ranks_ = ranks_;
    back.ports_ = ports_;
    constexpr Ports plus = 0x5555555555555555;
    for (Rank from = 0; from < ranks_; ++from) {
        for (Rank to = 0; to < ranks_; ++to) {
            const Ports leaving = ports_between(to, from);
            back.hops_.push_back(hops(to, from));
            back.allowed_.push_back((leaving & plus) << 1 | (leaving >> 1 & plus));
        }
    }
    return back;
}

}  // namespace trefoil
