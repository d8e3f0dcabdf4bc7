// SPDX-License-Identifier: BSD-3-Clause
// From trees to steps.
#include "algorithms/packing/packed.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/packing/block_steps.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// One rank's place in a tree. Ports are those of the way down.
struct Place {
    int depth = 0;
    int height = 0;  ///< of the tree below
    int entry = -1;
    std::vector<int> children;  ///< links to them
};

std::vector<Place> places(const Packing& packing, const PackedTree& tree) {
    std::vector<Place> all(to_index(packing.ranks));
    const std::vector<int> depths = packing.depths(tree);
    std::vector<Rank> by_depth;
    for (Rank r = 0; r < packing.ranks; ++r) {
        all[to_index(r)].depth = depths[to_index(r)];
        all[to_index(r)].entry = tree.entry[to_index(r)];
        by_depth.push_back(r);
    }
    std::stable_sort(by_depth.begin(), by_depth.end(),
                     [&](Rank a, Rank b) { return depths[to_index(a)] > depths[to_index(b)]; });
    for (const Rank r : by_depth) {
        const int entry = all[to_index(r)].entry;
        if (entry >= 0) {
            Place& parent = all[to_index(packing.links[to_index(entry)].from)];
            parent.children.push_back(entry);
            parent.height = std::max(parent.height, all[to_index(r)].height + 1);
        }
    }
    return all;
}

/// Pieces that follow one another along trees, up, down or both.
class Pipeline {
  public:
    Pipeline(const Packing& packing, int pieces, bool goes_up, bool goes_down)
        : packing_(packing), pieces_(pieces), goes_up_(goes_up), goes_down_(goes_down) {
        for (Rank r = 0; r < packing.ranks; ++r) {
            writers_.emplace_back(r);
        }
    }

    std::vector<Schedule> build() {
        int highest = 0;
        for (const PackedTree& tree : packing_.trees) {
            highest = std::max(highest, places(packing_, tree)[to_index(tree.root)].height);
        }
        // Parts have the same number of steps: in the last ones those of low trees rest.
        steps_ = highest * (goes_up_ && goes_down_ ? 2 : 1) + pieces_ - 1;
        for (const PackedTree& tree : packing_.trees) {
            add(tree);
        }
        std::vector<Schedule> schedules;
        for (ScheduleWriter& writer : writers_) {
            schedules.push_back(writer.take());
        }
        return schedules;
    }

  private:
    /// A piece leaves a rank for its parent `height` steps after the leaves have sent theirs, and
    /// the root for its children when all of it is there.
    void add(const PackedTree& tree) {
        const std::vector<Place> all = places(packing_, tree);
        const int turn = goes_up_ ? all[to_index(tree.root)].height : 0;
        for (Rank r = 0; r < packing_.ranks; ++r) {
            const Place& place = all[to_index(r)];
            ScheduleWriter& writer = writers_[to_index(r)];
            writer.part(static_cast<Block>(pieces_));
            for (int s = 0; s < steps_; ++s) {
                writer.step();
                if (goes_up_ && place.entry >= 0) {
                    up(writer, place.entry, s - place.height, true);
                }
                for (const int child : place.children) {
                    if (goes_down_) {
                        down(writer, child, s - turn - place.depth, true);
                    }
                }
                for (const int child : place.children) {
                    if (goes_up_) {
                        up(writer, child,
                           s - all[to_index(packing_.links[to_index(child)].to)].height, false);
                    }
                }
                if (goes_down_ && place.entry >= 0) {
                    down(writer, place.entry, s - turn - place.depth + 1, false);
                }
            }
        }
    }

    void down(ScheduleWriter& writer, int index, int piece, bool sends) {
        message(writer, index, piece, sends, false);
    }
    void up(ScheduleWriter& writer, int index, int piece, bool sends) {
        message(writer, index, piece, sends, true);
    }
    void message(ScheduleWriter& writer, int index, int piece, bool sends, bool goes_up) {
        if (piece < 0 || piece >= pieces_) {
            return;
        }
        const FabricLink& link = packing_.links[to_index(index)];
        const Extent extent{static_cast<Block>(piece), 1};
        const bool at_child = sends == goes_up;
        const Rank peer = at_child ? link.from : link.to;
        const Port port = at_child ? link.port.opposite() : link.port;
        if (sends) {
            writer.send(peer, port, {&extent, 1});
        } else {
            writer.receive(peer, port, goes_up ? Action::reduce : Action::replace, {&extent, 1});
        }
    }

    const Packing& packing_;
    int pieces_;
    bool goes_up_, goes_down_;
    int steps_ = 0;
    std::vector<ScheduleWriter> writers_;
};

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
    return fabric.is_connected()
               ? std::string()
               : "the links of " + fabric.name() + " that work do not join all its ranks";
}

PackedTrees pack_trees(const Fabric& fabric, Collective collective, Rank root) {
    require_packed(fabric, collective);
    if (goes_by_routes(collective)) {
        throw Error(Status::internal,
                    "there are no trees for alltoall, gather and scatter; please report this");
    }
    const double bound = throughput_bound(fabric, collective, root)->vectors();
    const bool goes_back =
        collective == Collective::reduce || collective == Collective::reduce_scatter;
    PackedTrees packed;
    if (fabric.ranks() == 1) {
        return packed;
    }
    if (collective == Collective::allreduce) {
        packed.packing = pack_both_ways(fabric, bound);
        if (packed.packing.trees.empty()) {
            throw Error(Status::unsupported, "the cables of " + fabric.name() +
                                                 " that work both ways do not join all its ranks");
        }
    } else {
        const std::vector<FabricLink> links = goes_back ? reversed(fabric.links()) : fabric.links();
        const bool rooted = traits_of(collective).rooted();
        packed.packing = rooted ? pack_from_root(fabric, links, root, bound)
                                : pack_from_all(fabric, links, bound);
    }
    packed.time = packed.packing.time(1.0 / static_cast<double>(packed.packing.trees.size()));
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
        constexpr Block usual_pieces = 8;
        const int count = static_cast<int>(pieces != 0 ? pieces : usual_pieces);
        set.schedules = Pipeline(packing, count, goes_up, collective != Collective::reduce).build();
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
