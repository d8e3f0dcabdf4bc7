// SPDX-License-Identifier: BSD-3-Clause
// From trees to steps.
#include "algorithms/packing/packed.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/packing/block_steps.hpp"
#include "algorithms/packing/bounds.hpp"
#include "algorithms/packing/links.hpp"
#include "algorithms/packing/tree_pipeline.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// Blocks of all ranks; of a reduction everything the other way, and backwards in time.
std::vector<Schedule> with_blocks(const Packing& packing, bool reduces) {
    std::vector<ScheduleWriter> writers;
    for (Rank r = 0; r < packing.ranks; ++r) {
        writers.emplace_back(r);
    }
    const auto ranks = to_index(packing.ranks);
    std::vector<std::vector<std::vector<BlockStep>>> parts;
    std::size_t most = 0;
    for (std::size_t first = 0; first < packing.trees.size(); first += ranks) {
        parts.push_back(block_steps(packing, {packing.trees.data() + first, ranks}));
        most = std::max(most, parts.back().size());
    }
    for (auto& steps : parts) {
        if (reduces) {
            std::reverse(steps.begin(), steps.end());
        }
        steps.resize(most);  // parts have the same number of steps
        for (ScheduleWriter& writer : writers) {
            writer.part(static_cast<Block>(packing.ranks));
        }
        for (const std::vector<BlockStep>& step : steps) {
            for (ScheduleWriter& writer : writers) {
                writer.step();
            }
            for (const bool sends : {true, false}) {
                for (const BlockStep& one : step) {
                    const FabricLink& link = packing.links[to_index(one.link)];
                    const Extent extent{static_cast<Block>(one.block), 1};
                    const bool at_child = sends == reduces;
                    ScheduleWriter& writer = writers[to_index(at_child ? link.to : link.from)];
                    const Rank peer = at_child ? link.from : link.to;
                    const Port port = at_child ? link.port.opposite() : link.port;
                    if (sends) {
                        writer.send(peer, port, {&extent, 1});
                    } else {
                        writer.receive(peer, port, reduces ? Action::reduce : Action::replace,
                                       {&extent, 1});
                    }
                }
            }
        }
    }
    std::vector<Schedule> schedules;
    for (ScheduleWriter& writer : writers) {
        schedules.push_back(writer.take());
    }
    return schedules;
}

void require_packed(const Fabric& fabric, Collective collective) {
    if (const std::string reason = packed_refusal(fabric, collective); !reason.empty()) {
        throw Error(Status::unsupported, reason);
    }
}

/// A set without schedules.
ScheduleSet empty_set(const Fabric& fabric, Collective collective, Rank root) {
    ScheduleSet set;
    set.collective = collective;
    set.torus = Torus::of_fabric(fabric);
    set.steered = true;
    set.root = traits_of(collective).rooted() ? root : 0;
    return set;
}

/// Block r is rank r's.
void give_owners(ScheduleSet& set) {
    if (traits_of(set.collective).blocks_have_owners()) {
        std::vector<Rank> owners;
        for (Rank r = 0; r < static_cast<Rank>(set.schedules.size()); ++r) {
            owners.push_back(r);
        }
        set.owners.assign(set.schedules.front().parts.size(), owners);
    }
}

}  // namespace

std::string packed_refusal(const Fabric& fabric, Collective collective) {
    switch (collective) {
        case Collective::allreduce:
        case Collective::reduce_scatter:
        case Collective::allgather:
        case Collective::bcast:
        case Collective::reduce:
        case Collective::gather:
        case Collective::scatter:
        case Collective::alltoall:
            break;
        default:
            return "packed trees and routes serve allreduce, reduce_scatter, allgather, bcast, "
                   "reduce, gather, scatter and alltoall, not " +
                   std::string(to_string(collective));
    }
    if (!fabric.is_connected()) {
        return "the links of " + fabric.name() + " that work do not join all its ranks";
    }
    const std::vector<FabricLink> links = fabric.links();
    const bool joins =
        collective != Collective::allreduce ||
        least_needed_rate(links, rates_both_ways(links, links_back(links)), fabric.ranks(), 0) > 0;
    return joins ? std::string()
                 : "the cables of " + fabric.name() +
                       " that work both ways do not join all its ranks";
}

PackedTrees pack_trees(const Fabric& fabric, Collective collective, Rank root, double close) {
    require_packed(fabric, collective);
    if (goes_by_routes(collective)) {
        throw Error(Status::internal,
                    "there are no trees for alltoall, gather and scatter; please report this");
    }
    const bool goes_back =
        collective == Collective::reduce || collective == Collective::reduce_scatter;
    PackedTrees packed;
    if (fabric.ranks() == 1) {
        return packed;
    }
    const std::vector<FabricLink> links = goes_back ? reversed(fabric.links()) : fabric.links();
    const auto pack = [&](double bound) {
        packed.packing = collective == Collective::allreduce ? pack_both_ways(fabric, bound, close)
                         : traits_of(collective).rooted()
                             ? pack_from_root(fabric, links, root, bound)
                             : pack_from_all(fabric, links, bound);
        if (packed.packing.trees.empty()) {
            throw Error(Status::internal, "no trees were found for the " +
                                              std::string(to_string(collective)) + " on " +
                                              fabric.name() + "; please report this");
        }
        packed.time = packed.packing.time(1.0 / static_cast<double>(packed.packing.trees.size()));
    };
    // Trees that come close to any bound need no better one.
    const double quick = quick_bound(links, fabric.ranks(), collective, root);
    pack(quick);
    // For many ranks the exact bound, a flow for each, takes minutes.
    constexpr Rank most_bounded = 512;
    if (packed.time > quick * close && fabric.ranks() <= most_bounded) {
        const double bound = throughput_bound(fabric, collective, root)->vectors();
        if (bound > quick * (1 + 1e-9)) {
            pack(bound);
        }
    }
    return packed;
}

ScheduleSet packed_schedules(const Fabric& fabric, const PackedTrees& packed, Collective collective,
                             Rank root, Block pieces) {
    ScheduleSet set = empty_set(fabric, collective, root);
    const Packing& packing = packed.packing;
    const bool goes_up = traits_of(collective).reduces;
    if (packing.trees.empty()) {  // one rank
        ScheduleWriter writer(0);
        writer.part(1);
        set.schedules.push_back(writer.take());
    } else if (traits_of(collective).has_blocks()) {
        set.schedules = with_blocks(packing, goes_up);
    } else {
        const TreePipeline pipeline(packing, collective);
        for (Rank r = 0; r < packing.ranks; ++r) {
            set.schedules.push_back(pipeline.build(r, pieces));
        }
    }
    give_owners(set);
    return set;
}

ScheduleSet packed_schedules(const Fabric& fabric, Collective collective, Rank root, Block pieces) {
    if (!goes_by_routes(collective)) {
        return packed_schedules(fabric, pack_trees(fabric, collective, root), collective, root,
                                pieces);
    }
    require_packed(fabric, collective);
    ScheduleSet set = empty_set(fabric, collective, root);
    const RoutedBlocks blocks = route_blocks(fabric, collective, root);
    for (Rank r = 0; r < fabric.ranks(); ++r) {
        set.schedules.push_back(routed_schedule(blocks, collective, r));
    }
    give_owners(set);
    return set;
}

double packed_time(const Fabric& fabric, Collective collective, Rank root) {
    require_packed(fabric, collective);
    return goes_by_routes(collective) ? route_blocks(fabric, collective, root).time
                                      : pack_trees(fabric, collective, root).time;
}

}  // namespace trefoil
