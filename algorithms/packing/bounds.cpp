// SPDX-License-Identifier: BSD-3-Clause
// Bounds by least cuts: a time is taken on trial, the narrowest place for it found by a flow, and
// the time that this place needs is the next trial (Newton's method on fractions; a few rounds).
#include "algorithms/packing/bounds.hpp"

#include <algorithm>
#include <numeric>

#include "algorithms/packing/links.hpp"
#include "algorithms/packing/max_flow.hpp"
#include "algorithms/packing/partitions.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

using Links = std::vector<FabricLink>;

/// Rates of the links into part 1.
std::int64_t into(const Links& links, const std::vector<int>& part_of) {
    std::int64_t rate = 0;
    for (const FabricLink& link : links) {
        rate +=
            part_of[to_index(link.from)] != 1 && part_of[to_index(link.to)] == 1 ? link.rate : 0;
    }
    return rate;
}

ThroughputBound fraction(std::int64_t numerator, std::int64_t denominator,
                         std::vector<int> part_of) {
    const std::int64_t divisor = std::gcd(numerator, denominator);
    return {numerator / divisor, denominator / divisor, std::move(part_of)};
}

/// By rank: 1 where `is_in`.
template <typename IsIn>
std::vector<int> side(Rank ranks, IsIn&& is_in) {
    std::vector<int> part_of;
    for (Rank r = 0; r < ranks; ++r) {
        part_of.push_back(is_in(r) ? 1 : 0);
    }
    return part_of;
}

/// The whole vector into every set of ranks that lacks the root.
ThroughputBound from_root(const Links& links, Rank ranks, Rank root) {
    ThroughputBound most;
    for (Rank to = 0; to < ranks; ++to) {
        if (to == root) {
            continue;
        }
        MaxFlow flow(ranks);
        for (const FabricLink& link : links) {
            flow.arc(link.from, link.to, link.rate);
        }
        const std::int64_t rate = flow.run(root, to);
        ThroughputBound bound = fraction(
            Fabric::whole, rate, side(ranks, [&](Rank r) { return !flow.on_source_side(r); }));
        most = exceeds(bound, most) ? std::move(bound) : most;
    }
    return most;
}

/// Each rank's block into every set of ranks that lacks it.
ThroughputBound from_all(const Links& links, Rank ranks) {
    const auto bound_of = [&](std::vector<int> part_of) {
        const auto inside = std::count(part_of.begin(), part_of.end(), 1);
        const std::int64_t rate = into(links, part_of);
        return fraction((ranks - inside) * Fabric::whole, ranks * rate, std::move(part_of));
    };
    ThroughputBound most;
    for (Rank r = 0; r < ranks; ++r) {
        ThroughputBound bound = bound_of(side(ranks, [&](Rank one) { return one == r; }));
        most = exceeds(bound, most) ? std::move(bound) : most;
    }
    // With T on trial, a set Y is too narrow where |Y| + n T rate(into Y) < n.
    for (Rank to = 0; to < ranks; ++to) {
        while (true) {
            MaxFlow flow(ranks + 1);
            for (Rank r = 0; r < ranks; ++r) {
                flow.arc(ranks, r, Fabric::whole * most.denominator);
            }
            for (const FabricLink& link : links) {
                flow.arc(link.from, link.to, ranks * most.numerator * link.rate);
            }
            const std::int64_t all = ranks * Fabric::whole * most.denominator;
            if (flow.run(ranks, to, all) >= all) {
                break;
            }
            ThroughputBound bound =
                bound_of(side(ranks, [&](Rank r) { return !flow.on_source_side(r); }));
            if (!exceeds(bound, most)) {
                break;
            }
            most = std::move(bound);
        }
    }
    return most;
}

/// The blocks of every set of ranks that lacks the root into it.
ThroughputBound blocks_from_root(const Links& links, Rank ranks, Rank root) {
    std::vector<int> others = side(ranks, [&](Rank r) { return r != root; });
    ThroughputBound most;
    while (true) {
        const auto inside = std::count(others.begin(), others.end(), 1);
        const std::int64_t rate = into(links, others);
        ThroughputBound bound = fraction(inside * Fabric::whole, ranks * rate, others);
        if (!exceeds(bound, most)) {
            return most;
        }
        most = std::move(bound);
        MaxFlow flow(ranks + 1);
        for (Rank r = 0; r < ranks; ++r) {
            flow.arc(r, ranks, r == root ? 0 : Fabric::whole * most.denominator);
        }
        for (const FabricLink& link : links) {
            flow.arc(link.from, link.to, ranks * most.numerator * link.rate);
        }
        if (flow.run(root, ranks) >= (ranks - 1) * Fabric::whole * most.denominator) {
            return most;
        }
        others = side(ranks, [&](Rank r) { return !flow.on_source_side(r); });
    }
}

ThroughputBound of_allreduce(const Links& links, Rank ranks) {
    ThroughputBound most = widest_partition(links, ranks);
    const bool both_ways_alike = std::all_of(links.begin(), links.end(), [&](const auto& link) {
        return std::any_of(links.begin(), links.end(), [&](const auto& back) {
            return back.from == link.to && back.to == link.from &&
                   back.port == link.port.opposite() && back.rate == link.rate;
        });
    });
    if (!both_ways_alike) {
        // Every cut is crossed in either direction: by what is reduced, or by what came of it.
        for (const bool backwards : {false, true}) {
            ThroughputBound bound = from_root(backwards ? reversed(links) : links, ranks, 0);
            if (!exceeds(bound, most)) {
                continue;
            }
            for (int& part : bound.part_of) {
                part = backwards ? 1 - part : part;  // the links into part 1 are the narrow ones
            }
            most = std::move(bound);
            most.one_way = true;
        }
    }
    return most;
}

/// By distances, by what each rank takes in and gives out, and by cuts across each dimension.
ThroughputBound of_alltoall(const Fabric& fabric, const Links& links) {
    const Rank ranks = fabric.ranks();
    std::int64_t hops = 0, rates = 0;
    for (Rank r = 0; r < ranks; ++r) {
        const std::vector<int> from = hops_along(links, ranks, r);
        hops += std::accumulate(from.begin(), from.end(), std::int64_t{0});
    }
    for (const FabricLink& link : links) {
        rates += link.rate;
    }
    ThroughputBound most = fraction(hops * Fabric::whole, ranks * rates, {});
    const auto cut = [&](std::vector<int> part_of) {
        const std::int64_t inside = std::count(part_of.begin(), part_of.end(), 1);
        for (const bool out : {false, true}) {
            for (int& part : part_of) {
                part = out ? 1 - part : part;
            }
            const std::int64_t rate = into(links, part_of);
            if (rate > 0 && inside > 0 && inside < ranks) {
                ThroughputBound bound =
                    fraction(inside * (ranks - inside) * Fabric::whole, ranks * rate, part_of);
                most = exceeds(bound, most) ? std::move(bound) : most;
            }
        }
    };
    for (Rank one = 0; one < ranks; ++one) {
        cut(side(ranks, [&](Rank r) { return r == one; }));
    }
    const Torus& torus = fabric.torus();
    for (int j = 0; j < torus.dimensions(); ++j) {
        for (Rank first = 0; first < torus.size(j); ++first) {
            for (Rank end = first + 1; end <= torus.size(j); ++end) {
                cut(side(ranks, [&](Rank r) {
                    const Rank at_place = torus.coordinate(fabric.place_of(r), j);
                    return at_place >= first && at_place < end;
                }));
            }
        }
    }
    return most;
}

}  // namespace

std::optional<ThroughputBound> throughput_bound(const Fabric& fabric, Collective collective,
                                                Rank root) {
    const Rank ranks = fabric.ranks();
    if (!fabric.is_connected()) {
        throw Error(Status::unsupported,
                    "the links of " + fabric.name() + " that work do not join all its ranks");
    }
    if (ranks == 1) {
        return ThroughputBound{};
    }
    const Links links = fabric.links();
    switch (collective) {
        case Collective::allreduce:
            return of_allreduce(links, ranks);
        case Collective::bcast:
            return from_root(links, ranks, root);
        case Collective::reduce:
            return from_root(reversed(links), ranks, root);
        case Collective::allgather:
            return from_all(links, ranks);
        case Collective::reduce_scatter:
            return from_all(reversed(links), ranks);
        case Collective::scatter:
            return blocks_from_root(links, ranks, root);
        case Collective::gather:
            return blocks_from_root(reversed(links), ranks, root);
        case Collective::alltoall:
            return of_alltoall(fabric, links);
        case Collective::barrier:
        case Collective::scan:
        case Collective::exscan:
        case Collective::neighbor_allgather:
        case Collective::neighbor_alltoall:
            break;
    }
    return std::nullopt;
}

double quick_bound(const std::vector<FabricLink>& links, Rank ranks, Collective collective,
                   Rank root) {
    std::vector<double> in(to_index(ranks)), out(to_index(ranks));
    double all = 0;
    for (const FabricLink& link : links) {
        const double rate = link.rate / static_cast<double>(Fabric::whole);
        in[to_index(link.to)] += rate;
        out[to_index(link.from)] += rate;
        all += rate;
    }
    const bool is_allreduce = collective == Collective::allreduce;
    const bool rooted = traits_of(collective).rooted();
    double most = is_allreduce ? 2 * (ranks - 1) / all : 0;
    for (Rank r = 0; r < ranks; ++r) {
        const double enters = in[to_index(r)], leaves = out[to_index(r)];
        if (is_allreduce) {
            most = std::max({most, 2 / (enters + leaves), 1 / enters, 1 / leaves});
        } else if (rooted) {
            most = std::max(most, 1 / (r == root ? leaves : enters));
        } else {
            most = std::max(most, (ranks - 1) / (ranks * enters));
        }
    }
    return most;
}

LatencyBound latency_bound(const Fabric& fabric, Collective collective, Rank root) {
    const CollectiveTraits& row = traits_of(collective);
    if (row.with_neighbours()) {
        return {1, 1};
    }
    const Rank ranks = fabric.ranks();
    const Links links = fabric.links();
    LatencyBound bound;
    for (Rank r = 0; r < ranks; ++r) {
        if (!row.rooted() || r == root) {
            const std::vector<int> hops = hops_along(links, ranks, r);
            bound.hops = std::max(bound.hops, *std::max_element(hops.begin(), hops.end()));
        }
    }
    for (std::int64_t reached = 1; reached < ranks; reached *= fabric.torus().ports() + 1) {
        ++bound.steps;
    }
    return bound;
}

}  // namespace trefoil
