// SPDX-License-Identifier: BSD-3-Clause
// List scheduling.
#include "algorithms/packing/block_steps.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

namespace trefoil {

namespace {

/// What waits before each link. In each step links take what they may, at least one of them a
/// block; what follows it waits from the next step on.
class Queues {
  public:
    Queues(const std::vector<FabricLink>& links, int window)
        : links_(links), window_(window), waiting_(links.size()), credit_(links.size()) {}

    /// First those with the longest way before them, then in the order of their numbers.
    void add(int link, std::int64_t way, int number) {
        waiting_[to_index(link)].push(way * numbers + (numbers - 1 - number));
        ++left_;
    }
    bool empty() const { return left_ == 0; }

    /// Calls take(link, number) for all that go in a step; returns what the slowest link takes, in
    /// blocks at a whole link's rate.
    template <typename Take>
    double step(Take&& take) {
        const std::int64_t turns = turns_to_next();
        double slowest = 0;
        for (std::size_t i = 0; i < waiting_.size(); ++i) {
            // It keeps what is left of a block, and nothing of the time when it was idle.
            const int more = window_ * links_[i].rate;
            credit_[i] = static_cast<int>(std::min<std::int64_t>(
                credit_[i] + turns * more, more + whole - std::gcd(more, whole)));
            int taken = 0;
            for (; !waiting_[i].empty() && credit_[i] >= whole; ++taken) {
                const auto number = static_cast<int>(numbers - 1 - waiting_[i].top() % numbers);
                waiting_[i].pop();
                credit_[i] -= whole;
                --left_;
                take(static_cast<int>(i), number);
            }
            slowest = std::max(slowest, static_cast<double>(taken) * whole / links_[i].rate);
        }
        return slowest;
    }

  private:
    /// Until a block may go: of a slow link many turns pass, and where nothing else waits they are
    /// not steps.
    std::int64_t turns_to_next() const {
        std::int64_t least = whole;  // as many as the slowest link needs
        for (std::size_t i = 0; i < waiting_.size() && least > 1; ++i) {
            if (!waiting_[i].empty()) {
                const int more = window_ * links_[i].rate;
                const int lacking = std::max(1, whole - credit_[i]);
                least = std::min<std::int64_t>(least, (lacking + more - 1) / more);
            }
        }
        return least;
    }

    static constexpr int whole = Fabric::whole;
    static constexpr std::int64_t numbers = std::int64_t{1} << 24;  ///< more than there are
    const std::vector<FabricLink>& links_;
    int window_;
    std::vector<std::priority_queue<std::int64_t>> waiting_;  ///< both in one, as it is faster
    std::vector<int> credit_;
    std::size_t left_ = 0;
};

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
    Queues queues(packing.links, 1);
    const auto arrive = [&](int tree, Rank rank) {
        for (const int link : children[to_index(tree)][to_index(rank)]) {
            const Rank to = packing.links[to_index(link)].to;
            queues.add(link, height[to_index(tree)][to_index(to)], tree);
        }
    };
    for (int t = 0; t < static_cast<int>(trees.size()); ++t) {
        arrive(t, trees[to_index(t)].root);
    }
    std::vector<std::vector<BlockStep>> steps;
    while (!queues.empty()) {
        std::vector<BlockStep>& step = steps.emplace_back();
        queues.step([&](int link, int tree) { step.push_back({tree, link}); });
        for (BlockStep& one : step) {
            const int tree = one.block;
            one.block = trees[to_index(tree)].root;
            arrive(tree, packing.links[to_index(one.link)].to);
        }
    }
    return steps;
}

std::vector<RouteStep> route_steps(const BlockRoutes& routes, int window, double& time) {
    // Slow links count as longer ones: what goes over them late keeps all others waiting.
    std::vector<std::int64_t> left;
    std::size_t all = 0;
    for (const BlockRoute& route : routes.routes) {
        std::int64_t& way = left.emplace_back(0);
        for (const int link : route.links) {
            way += std::int64_t{Fabric::whole} * Fabric::whole / routes.links[to_index(link)].rate;
        }
        all += route.links.size();
    }
    std::vector<std::size_t> next(routes.routes.size());
    Queues queues(routes.links, window);
    const auto arrive = [&](int number) {
        const BlockRoute& route = routes.routes[to_index(number)];
        if (next[to_index(number)] < route.links.size()) {
            queues.add(route.links[next[to_index(number)]], left[to_index(number)], number);
        }
    };
    for (int r = 0; r < static_cast<int>(routes.routes.size()); ++r) {
        arrive(r);
    }
    std::vector<RouteStep> crossings;
    crossings.reserve(all);
    time = 0;
    for (int step = 0; !queues.empty(); ++step) {
        const std::size_t begin = crossings.size();
        time += queues.step([&](int link, int number) {
            crossings.push_back({step, number, link});
        });
        for (std::size_t i = begin; i < crossings.size(); ++i) {
            const auto number = to_index(crossings[i].route);
            ++next[number];
            left[number] -= std::int64_t{Fabric::whole} * Fabric::whole /
                            routes.links[to_index(crossings[i].link)].rate;
            arrive(crossings[i].route);
        }
    }
    time /= static_cast<double>(routes.parts) * routes.ranks;
    return crossings;
}

}  // namespace trefoil
