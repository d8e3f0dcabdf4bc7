// SPDX-License-Identifier: BSD-3-Clause
// List scheduling.
#include "algorithms/packing/block_steps.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace trefoil {

namespace {

/// By rank: how far the farthest rank below it is.
std::vector<int> heights(const Packing& packing, const PackedTree& tree) {
    const std::vector<int> depths = packing.depths(tree);
    std::vector<int> height(depths.size());
    std::vector<Rank> order;
    for (Rank r = 0; r < packing.ranks; ++r) {
        order.push_back(r);
    }
    std::sort(order.begin(), order.end(),
              [&](Rank a, Rank b) { return depths[to_index(a)] > depths[to_index(b)]; });
    for (const Rank r : order) {
        if (tree.entry[to_index(r)] >= 0) {
            int& parent = height[to_index(packing.links[to_index(tree.entry[to_index(r)])].from)];
            parent = std::max(parent, height[to_index(r)] + 1);
        }
    }
    return height;
}

struct Waiting {
    int height = 0;
    Rank block = 0;
    bool operator<(const Waiting& other) const {
        return std::tie(height, other.block) < std::tie(other.height, block);
    }
};

}  // namespace

std::vector<std::vector<BlockStep>> block_steps(const Packing& packing,
                                                std::span<const PackedTree> trees) {
    std::vector<std::vector<int>> height;
    // By tree and rank: links to its children.
    std::vector<std::vector<std::vector<int>>> children;
    for (const PackedTree& tree : trees) {
        height.push_back(heights(packing, tree));
        auto& of_tree = children.emplace_back(to_index(packing.ranks));
        for (const int link : tree.entry) {
            if (link >= 0) {
                of_tree[to_index(packing.links[to_index(link)].from)].push_back(link);
            }
        }
    }
    std::vector<std::priority_queue<Waiting>> waiting(packing.links.size());
    std::size_t left = 0;
    const auto arrive = [&](std::size_t tree, Rank rank) {
        for (const int link : children[tree][to_index(rank)]) {
            waiting[to_index(link)].push({height[tree][to_index(packing.links[to_index(link)].to)],
                                          static_cast<Rank>(tree)});
        }
    };
    for (std::size_t t = 0; t < trees.size(); ++t) {
        arrive(t, trees[t].root);
        left += to_index(packing.ranks) - 1;
    }
    std::vector<int> credit(packing.links.size());
    std::vector<std::vector<BlockStep>> steps;
    while (left > 0) {
        std::vector<BlockStep> step;
        for (std::size_t i = 0; i < waiting.size(); ++i) {
            credit[i] = std::min(credit[i] + packing.links[i].rate, Fabric::whole);
            if (!waiting[i].empty() && credit[i] == Fabric::whole) {
                credit[i] = 0;
                step.push_back({trees[to_index(waiting[i].top().block)].root, static_cast<int>(i)});
                waiting[i].pop();
            }
        }
        for (const BlockStep& one : step) {
            arrive(to_index(one.block), packing.links[to_index(one.link)].to);
        }
        left -= step.size();
        steps.push_back(std::move(step));
    }
    return steps;
}

}  // namespace trefoil
