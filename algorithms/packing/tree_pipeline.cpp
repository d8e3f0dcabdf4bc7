// SPDX-License-Identifier: BSD-3-Clause
// Pieces that follow one another along trees, up, down or both.
#include "algorithms/packing/tree_pipeline.hpp"

#include <algorithm>

namespace trefoil {

TreePipeline::TreePipeline(const Packing& packing, Collective collective)
    : packing_(packing),
      goes_up_(traits_of(collective).reduces),
      goes_down_(collective != Collective::reduce) {
    for (const PackedTree& tree : packing.trees) {
        places_.push_back(places(packing, tree));
        highest_ = std::max(highest_, places_.back()[to_index(tree.root)].height);
    }
}

std::vector<TreePipeline::Place> TreePipeline::places(const Packing& packing,
                                                      const PackedTree& tree) {
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

/// A piece leaves a rank for its parent `height` steps after the leaves have sent theirs, and the
/// root for its children when all of it is there.
Schedule TreePipeline::build(Rank rank, Block pieces) const {
    constexpr Block usual_pieces = 8;
    const auto count = static_cast<int>(pieces != 0 ? pieces : usual_pieces);
    // Parts have the same number of steps: in the last ones those of low trees rest.
    const int steps = highest_ * (goes_up_ && goes_down_ ? 2 : 1) + count - 1;
    ScheduleWriter writer(rank);
    for (std::size_t t = 0; t < places_.size(); ++t) {
        const std::vector<Place>& all = places_[t];
        const int turn = goes_up_ ? all[to_index(packing_.trees[t].root)].height : 0;
        const Place& place = all[to_index(rank)];
        const auto up = [&](int link, int piece, bool sends) {
            message(writer, link, piece, count, sends, true);
        };
        const auto down = [&](int link, int piece, bool sends) {
            message(writer, link, piece, count, sends, false);
        };
        writer.part(static_cast<Block>(count));
        for (int s = 0; s < steps; ++s) {
            writer.step();
            if (goes_up_ && place.entry >= 0) {
                up(place.entry, s - place.height, true);
            }
            for (const int child : place.children) {
                if (goes_down_) {
                    down(child, s - turn - place.depth, true);
                }
            }
            for (const int child : place.children) {
                if (goes_up_) {
                    const Rank below = packing_.links[to_index(child)].to;
                    up(child, s - all[to_index(below)].height, false);
                }
            }
            if (goes_down_ && place.entry >= 0) {
                down(place.entry, s - turn - place.depth + 1, false);
            }
        }
    }
    return writer.take();
}

void TreePipeline::message(ScheduleWriter& writer, int link, int piece, int pieces, bool sends,
                           bool goes_up) const {
    if (piece < 0 || piece >= pieces) {
        return;
    }
    const FabricLink& way = packing_.links[to_index(link)];
    const Extent extent{static_cast<Block>(piece), 1};
    const bool at_child = sends == goes_up;
    const Rank peer = at_child ? way.from : way.to;
    const Port port = at_child ? way.port.opposite() : way.port;
    if (sends) {
        writer.send(peer, port, {&extent, 1});
    } else {
        writer.receive(peer, port, goes_up ? Action::reduce : Action::replace, {&extent, 1});
    }
}

}  // namespace trefoil
