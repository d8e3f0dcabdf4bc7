// SPDX-License-Identifier: BSD-3-Clause
// What was made for one rank serves the others.
#include "algorithms/packing/builders.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <tuple>
#include <utility>

namespace trefoil {

namespace {

/// The last few of what takes long to make.
template <typename Key, typename Value>
class Kept {
  public:
    explicit Kept(std::size_t most) : most_(most) {}

    /// Two threads that want the same wait for one of them.
    template <typename Make>
    std::shared_ptr<const Value> get(const Key& key, Make&& make) {
        const std::lock_guard lock(mutex_);
        for (auto known = kept_.begin(); known != kept_.end(); ++known) {
            if (known->first == key) {
                auto found = *known;
                kept_.erase(known);
                kept_.push_back(found);
                return found.second;
            }
        }
        kept_.emplace_back(key, std::make_shared<const Value>(make()));
        if (kept_.size() > most_) {
            kept_.pop_front();
        }
        return kept_.back().second;
    }

  private:
    std::size_t most_;
    std::mutex mutex_;
    std::deque<std::pair<Key, std::shared_ptr<const Value>>> kept_;
};

using TreesKey = std::tuple<std::string, Collective, Rank>;
using SetKey = std::tuple<std::string, Collective, Rank, Block>;

std::shared_ptr<const PackedTrees> trees(Collective collective, const Torus& torus, Rank root) {
    static auto& kept = *new Kept<TreesKey, PackedTrees>(16);
    return kept.get({torus.name(), collective, root},
                    [&] { return pack_trees(Fabric(torus), collective, root); });
}

std::shared_ptr<const RoutedBlocks> routes(Collective collective, const Torus& torus, Rank root) {
    static auto& kept = *new Kept<TreesKey, RoutedBlocks>(4);
    root = traits_of(collective).rooted() ? root : 0;
    return kept.get({torus.name(), collective, root},
                    [&] { return route_blocks(Fabric(torus), collective, root); });
}

std::shared_ptr<const ScheduleSet> schedules(Collective collective, const Torus& torus,
                                             const BuildOptions& options) {
    static auto& kept = *new Kept<SetKey, ScheduleSet>(4);
    const Rank root = traits_of(collective).rooted() ? options.root : 0;
    return kept.get({torus.name(), collective, root, options.pieces}, [&] {
        return packed_schedules(Fabric(torus), *trees(collective, torus, root), collective, root,
                                options.pieces);
    });
}

}  // namespace

std::string packed_shape_refusal(const Torus& torus) {
    if (torus.has_nodes()) {
        return "it packs trees between nodes; by-node takes it there";
    }
    if (torus.ranks() > most_packed_ranks) {
        return "it is for up to " + std::to_string(most_packed_ranks) + " ranks";
    }
    return packed_refusal(Fabric(torus), Collective::bcast);
}

std::string packed_alltoall_refusal(const Torus& torus) {
    if (!torus.has_nodes() && torus.ranks() > most_packed_alltoall_ranks) {
        return "it is for up to " + std::to_string(most_packed_alltoall_ranks) + " ranks";
    }
    return packed_shape_refusal(torus);
}

Schedule build_packed(Collective collective, const Torus& torus, Rank rank,
                      const BuildOptions& options) {
    if (goes_by_routes(collective)) {
        return routed_schedule(*routes(collective, torus, options.root), collective, rank);
    }
    return schedules(collective, torus, options)->schedules[to_index(rank)];
}

double packed_landing(Collective collective, const Torus& torus, const BuildOptions& options) {
    if (goes_by_routes(collective)) {
        const Routes& all = routes(collective, torus, options.root)->routes;
        const std::vector<int> loads = all.loads();
        return loads.empty() ? 0
                             : *std::max_element(loads.begin(), loads.end()) /
                                   (static_cast<double>(all.parts) * all.ranks);
    }
    // Both ways through one link at most, whatever the root and the pieces.
    const PackedTrees& packed = *trees(collective, torus, options.root);
    std::vector<int> uses(packed.packing.links.size());
    const std::vector<int> back = links_back(packed.packing.links);
    for (const PackedTree& tree : packed.packing.trees) {
        for (const int link : tree.entry) {
            if (link >= 0) {
                ++uses[to_index(link)];
                if (packed.packing.both_ways) {
                    ++uses[to_index(back[to_index(link)])];
                }
            }
        }
    }
    const int most = uses.empty() ? 0 : *std::max_element(uses.begin(), uses.end());
    return packed.packing.trees.empty() ? 0
                                        : most / static_cast<double>(packed.packing.trees.size());
}

PackedShape packed_shape(Collective collective, const Torus& torus) {
    const PackedTrees& packed = *trees(collective, torus, 0);
    PackedShape shape{0, static_cast<int>(packed.packing.trees.size()), packed.time};
    for (const PackedTree& tree : packed.packing.trees) {
        const std::vector<int> depths = packed.packing.depths(tree);
        shape.height = std::max(shape.height, *std::max_element(depths.begin(), depths.end()));
    }
    return shape;
}

}  // namespace trefoil
