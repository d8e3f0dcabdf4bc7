// SPDX-License-Identifier: BSD-3-Clause
// What was made for one rank serves the others.
#include "algorithms/packing/builders.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "algorithms/packing/tree_pipeline.hpp"
#include "algorithms/schedule/kept.hpp"

namespace trefoil {

namespace {

/// Trees, and what builds schedules from them where that goes rank by rank.
struct Built {
    Built(const Fabric& fabric, Collective collective, Rank root, double close)
        : packed(pack_trees(fabric, collective, root, close)) {
        if (!packed.packing.trees.empty() && !traits_of(collective).has_blocks()) {
            pipeline.emplace(packed.packing, collective);
        }
    }
    Built(const Built&) = delete;

    PackedTrees packed;
    std::optional<TreePipeline> pipeline;
};

using TreesKey = std::tuple<std::string, Collective, Rank, Trees>;
using RoutesKey = std::tuple<std::string, Collective, Rank>;
using SetKey = std::tuple<std::string, Collective, Rank, Block>;

std::shared_ptr<const Built> built(Collective collective, const Torus& torus, Rank root,
                                   Trees trees) {
    static auto& kept = *new Kept<TreesKey, Built>(16);
    return kept.get({torus.name(), collective, root, trees}, [&] {
        const double close = trees == Trees::few ? few_trees_are_close : close_to_bound;
        return std::make_shared<const Built>(Fabric(torus), collective, root, close);
    });
}

std::shared_ptr<const RoutedBlocks> routes(Collective collective, const Torus& torus, Rank root) {
    static auto& kept = *new Kept<RoutesKey, RoutedBlocks>(4);
    root = traits_of(collective).rooted() ? root : 0;
    return kept.get({torus.name(), collective, root}, [&] {
        return std::make_shared<const RoutedBlocks>(route_blocks(Fabric(torus), collective, root));
    });
}

std::shared_ptr<const ScheduleSet> schedules(Collective collective, const Torus& torus,
                                             const PackedTrees& packed, Rank root, Block pieces) {
    static auto& kept = *new Kept<SetKey, ScheduleSet>(4);
    return kept.get({torus.name(), collective, root, pieces}, [&] {
        return std::make_shared<const ScheduleSet>(
            packed_schedules(Fabric(torus), packed, collective, root, pieces));
    });
}

/// The most parts of blocks that one link carries.
int most_messages(const BlockRoutes& routes) {
    const std::vector<int> loads = routes.loads();
    return loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
}

/// Up to so many ranks (a quarter of all pairs is on either side of a link, if it is the only one)
/// and on whole tori without long rows no link can have too many messages: routes need not be
/// known.
bool may_crowd_links(Collective collective, const Torus& torus) {
    constexpr Rank few = 128, long_row = 64;
    const auto& sizes = torus.sizes();
    return collective == Collective::alltoall && torus.ranks() > few &&
           (torus.fabric() != nullptr ||
            std::any_of(sizes.begin(), sizes.end(), [](Rank size) { return size > long_row; }));
}

}  // namespace

std::string packed_shape_refusal(Collective collective, const Torus& torus) {
    if (torus.has_nodes()) {
        return "it packs trees between nodes; by-node takes it there";
    }
    if (torus.ranks() > most_packed_ranks(collective)) {
        return "its " + std::string(to_string(collective)) + " is for up to " +
               std::to_string(most_packed_ranks(collective)) + " ranks";
    }
    const std::string reason = packed_refusal(Fabric(torus), collective);
    if (!reason.empty() || !may_crowd_links(collective, torus)) {
        return reason;
    }
    const int messages = most_messages(routes(collective, torus, 0)->routes);
    return messages <= most_messages_of_link
               ? ""
               : "one link would carry " + std::to_string(messages) +
                     " blocks, each as a message, and it is for up to " +
                     std::to_string(most_messages_of_link);
}

Schedule build_packed(Collective collective, const Torus& torus, Rank rank,
                      const BuildOptions& options, Trees trees) {
    if (goes_by_routes(collective)) {
        return routed_schedule(*routes(collective, torus, options.root), collective, rank);
    }
    const Rank root = traits_of(collective).rooted() ? options.root : 0;
    const auto made = built(collective, torus, root, trees);
    return made->pipeline ? made->pipeline->build(rank, options.pieces)
                          : schedules(collective, torus, made->packed, root, options.pieces)
                                ->schedules[to_index(rank)];
}

double packed_landing(Collective collective, const Torus& torus, const BuildOptions& options,
                      Trees trees) {
    if (goes_by_routes(collective)) {
        const auto blocks = routes(collective, torus, options.root);
        const BlockRoutes& all = blocks->routes;
        return most_messages(all) / (static_cast<double>(all.parts) * all.ranks);
    }
    // Both ways through one link at most, whatever the root and the pieces.
    const auto made = built(collective, torus, options.root, trees);
    const PackedTrees& packed = made->packed;
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

PackedShape packed_shape(Collective collective, const Torus& torus, Trees trees) {
    const auto made = built(collective, torus, 0, trees);
    const PackedTrees& packed = made->packed;
    return {packed.packing.height(), static_cast<int>(packed.packing.trees.size()), packed.time};
}

}  // namespace trefoil
