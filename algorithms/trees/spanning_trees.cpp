// SPDX-License-Identifier: BSD-3-Clause
// Arc-disjoint spanning trees of a torus; see the header for the construction.
#include "algorithms/trees/spanning_trees.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>

#include "algorithms/schedule/long_dimensions.hpp"

namespace trefoil {

SpanningTrees::SpanningTrees(const Torus& torus, Rank root)
    : torus_(torus), root_(root), moving_(long_dimensions(torus)) {
    for (const int j : moving_) {
        (torus_.size(j) == 2 ? pairs_ : longs_).push_back(j);
    }
}

Rank SpanningTrees::distance(Rank rank, int dimension, int sign) const {
    const Rank size = torus_.size(dimension);
    const Rank ahead = torus_.coordinate(rank, dimension) - torus_.coordinate(root_, dimension);
    return (sign * ahead + size) % size;
}

Rank SpanningTrees::distance(Rank rank, int dimension) const {
    return std::min(distance(rank, dimension, 1), distance(rank, dimension, -1));
}

int SpanningTrees::side(Rank rank, int dimension) const {
    return distance(rank, dimension, 1) <= distance(rank, dimension, -1) ? 1 : -1;
}

SpanningTrees::Few SpanningTrees::differing(const std::vector<int>& dimensions, Rank rank) const {
    Few found;
    for (const int k : dimensions) {
        if (distance(rank, k, 1) != 0) {
            found.push_back(k);
        }
    }
    return found;
}

// Worst at a rank beside its own plane, whose other pairs all differ. The first (in the tree of the
// other sense the last) differing long dimension is gone around all the way.
int SpanningTrees::depth_of_pairs() const {
    int longest = 0;
    for (std::size_t i = 0; i < longs_.size(); ++i) {
        int before = 0, after = 0;
        for (std::size_t k = 0; k < longs_.size(); ++k) {
            (k < i ? before : after) += k == i ? 0 : torus_.size(longs_[k]) / 2;
        }
        longest = std::max(longest, torus_.size(longs_[i]) - 1 + std::max(before, after));
    }
    const int own = moving_.size() > 1 ? 2 : 1;
    return own + static_cast<int>(pairs_.size()) - 1 + longest;
}

int SpanningTrees::depth_of_longs() const {
    int deepest = 0;
    for (const int j : longs_) {
        int depth = torus_.size(j) - 1;
        for (const int k : moving_) {
            depth += k == j ? 0 : torus_.size(k) / 2;
        }
        deepest = std::max(deepest, depth);
    }
    return deepest;
}

int SpanningTrees::depth() const {
    return std::max(pairs_.empty() ? 0 : depth_of_pairs(), depth_of_longs());
}

int SpanningTrees::depth(int tree, Rank rank) const {
    if (rank == root_) {
        return 0;
    }
    const int j = moving_[tree / 2];
    const int sign = tree % 2 == 0 ? 1 : -1;
    const Few longs = differing(longs_, rank);
    int around = j;  // the dimension whose way is given, however long
    if (torus_.size(j) == 2 && !longs.empty()) {
        around = sign > 0 ? longs.front() : longs.back();
    }
    // A rank that does not differ in j is entered from one that does.
    int depth = distance(rank, j, 1) == 0 ? 2 : around == j ? 0 : 1;
    for (const int k : moving_) {
        if (k == around) {
            depth += distance(rank, k, sign);
        } else if (k != j) {
            depth += distance(rank, k);
        }
    }
    return depth;
}

// As depth(tree, rank) has it, by polynomials: the coefficient of x^h counts ranks, or coordinates
// of one dimension, at h hops.
std::vector<std::int64_t> SpanningTrees::ranks_by_depth(int tree) const {
    using Counts = std::vector<std::int64_t>;
    const auto times = [](const Counts& a, const Counts& b) {
        Counts product(a.size() + b.size() - 1, 0);
        for (std::size_t i = 0; i < a.size(); ++i) {
            for (std::size_t k = 0; k < b.size(); ++k) {
                product[i + k] += a[i] * b[k];
            }
        }
        return product;
    };
    const auto shorter_ways = [this](int dimension) {
        const Rank size = torus_.size(dimension);
        Counts counts(static_cast<std::size_t>(size / 2) + 1, 2);
        counts[0] = 1;
        counts.back() -= size % 2 == 0 ? 1 : 0;
        return counts;
    };
    const auto one_way_round = [this](int dimension) {  // from the next one on
        Counts counts(static_cast<std::size_t>(torus_.size(dimension)), 1);
        counts[0] = 0;
        return counts;
    };
    const int j = moving_[static_cast<std::size_t>(tree / 2)];
    const bool is_pair = torus_.size(j) == 2;
    Counts others{1};
    for (const int k : moving_) {
        if (k != j && (!is_pair || torus_.size(k) == 2)) {
            others = times(others, shorter_ways(k));
        }
    }
    Counts own;  // of the dimension itself, and of the longer ones
    if (is_pair) {
        // One of the longer dimensions is gone around: the first that differs, or the last one.
        Counts around{1};
        Counts rest{1};
        std::vector<int> longs = longs_;
        if (tree % 2 == 0) {
            std::ranges::reverse(longs);
        }
        for (const int k : longs) {
            const Counts more = times(rest, one_way_round(k));
            around.resize(std::max(around.size(), more.size()), 0);
            std::ranges::transform(more, around, around.begin(), std::plus<>());
            rest = times(rest, shorter_ways(k));
        }
        own = times({0, 1, 1}, around);  // a hop in the dimension; without it two
    } else {
        own = one_way_round(j);
        own.resize(std::max<std::size_t>(own.size(), 3), 0);
        own[2] += 1;
    }
    Counts all = times(own, others);
    all[2] -= 1;  // the root is there already
    all.resize(static_cast<std::size_t>(depth()) + 1, 0);
    return all;
}

Port SpanningTrees::entry(int tree, Rank rank) const {
    const int j = moving_[tree / 2];
    const int sign = tree % 2 == 0 ? 1 : -1;
    if (distance(rank, j, 1) == 0) {
        return Port::towards(j, -sign);
    }
    return torus_.size(j) == 2 ? entry_of_pair(j, sign, rank) : entry_of_long(j, sign, rank);
}

Port SpanningTrees::entry_of_pair(int dimension, int sign, Rank rank) const {
    const Few pairs = differing(pairs_, rank);
    const Few longs = differing(longs_, rank);
    const auto own = std::ranges::find(pairs, dimension);
    if (own != pairs.begin()) {
        return Port::towards(*(own - 1), sign);
    }
    if (longs.empty()) {
        return Port::towards(pairs.back(), sign);
    }
    if (longs.size() == 1) {
        return Port::towards(longs[0], sign);
    }
    return shorter(rank, sign > 0 ? longs.back() : longs.front());
}

Port SpanningTrees::entry_of_long(int dimension, int sign, Rank rank) const {
    const Few pairs = differing(pairs_, rank);
    const Few longs = differing(longs_, rank);
    const bool is_shorter = side(rank, dimension) == sign;
    if (!pairs.empty() && longs.size() == 1) {
        return Port::towards(pairs.back(), is_shorter ? 1 : -1);
    }
    if (!is_shorter) {
        return Port::towards(dimension, sign);
    }
    const auto i = std::ranges::find(longs, dimension) - longs.begin();
    if (!pairs.empty() && i < 2) {
        return Port::towards(pairs.back(), i == 0 ? 1 : -1);
    }
    return shorter(rank, i == 0 ? longs.back() : longs[i - 1]);
}

std::vector<Port> SpanningTrees::children(int tree, Rank rank) const {
    std::vector<Port> ports;
    for (const int j : moving_) {
        for (const Port port : {Port::plus(j), Port::minus(j)}) {
            const Rank child = torus_.neighbour(rank, port);
            if (child != root_ && entry(tree, child) == port) {
                ports.push_back(port);
            }
        }
    }
    return ports;
}

}  // namespace trefoil
