// SPDX-License-Identifier: BSD-3-Clause
// The trees of Bine and the binomial trees on a ring.
#include "algorithms/trees/tree_ring.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "algorithms/rings/halving_ring.hpp"

namespace trefoil {

TreeRing::TreeRing(TreeKind kind, Rank size)
    : kind_(kind), parent_(size, none), joined_(size, size), below_(size, 1) {
    if (kind.pattern == TreeKind::Pattern::bine && size % 2 != 0 && size > 1) {
        fold_ = kind.cut == TreeKind::Cut::even ? even_fold(size)
                                                : balanced_fold(size, kind.distance, kind.cut);
        group_.assign(size, none);
        for (std::size_t g = 0; g < fold_.centre.size(); ++g) {
            group_[fold_.centre[g]] = static_cast<Rank>(g);
        }
    }
    pattern_steps_ = halving_steps(folded() ? static_cast<Rank>(fold_.centre.size()) : size);
    steps_ = pattern_steps_ + (folded() ? 1 : 0);
    grow();
}

void TreeRing::grow() {
    std::vector<Rank> reached = {0};
    joined_[0] = -1;
    for (int step = 0; step < steps_; ++step) {
        const std::size_t before = reached.size();
        for (std::size_t i = 0; i < before; ++i) {
            const Rank to = target(reached[i], step);
            if (to != none && joined_[to] == size()) {
                joined_[to] = step;
                parent_[to] = reached[i];
                reached.push_back(to);
            }
        }
    }
    for (std::size_t i = reached.size() - 1; i > 0; --i) {
        below_[parent_[reached[i]]] += below_[reached[i]];
    }
}

Rank TreeRing::child(Rank coordinate, int step) const {
    const Rank to = target(coordinate, step);
    return to != none && parent_[to] == coordinate && joined_[to] == step ? to : none;
}

std::vector<std::int64_t> TreeRing::weights_below(std::vector<Block> weights) const {
    if (weights.empty()) {
        return {below_.begin(), below_.end()};
    }
    std::vector<std::int64_t> sums(weights.begin(), weights.end());
    for (int step = steps_ - 1; step >= 0; --step) {  // whoever is reached last has none below
        for (Rank c = 1; c < size(); ++c) {
            if (joined_[c] == step) {
                sums[parent_[c]] += sums[c];
            }
        }
    }
    return sums;
}

void TreeRing::collect(TreeBranch branch, std::vector<Rank>& out) const {
    out.push_back(branch.coordinate);
    for (int step = branch.step; step < steps_; ++step) {
        const Rank to = child(branch.coordinate, step);
        if (to != none) {
            collect({to, step + 1}, out);
        }
    }
}

Rank TreeRing::ancestor(Rank coordinate, int step) const {
    while (joined_[coordinate] >= step) {
        coordinate = parent_[coordinate];
    }
    return coordinate;
}

Rank TreeRing::target(Rank coordinate, int step) const {
    return kind_.pattern == TreeKind::Pattern::bine ? bine_target(coordinate, step)
                                                    : binomial_target(coordinate, step);
}

Rank TreeRing::bine_target(Rank coordinate, int step) const {
    const Rank node = folded() ? group_[coordinate] : coordinate;
    if (node == none) {
        return none;
    }
    if (step == pattern_steps_) {
        return folded() ? fold_.member[node] : none;
    }
    const bool doubling = kind_.distance == TreeKind::Distance::doubling;
    const std::int64_t rho = swing_distance(doubling ? step : pattern_steps_ - 1 - step);
    const std::int64_t all = folded() ? std::ssize(fold_.centre) : std::int64_t{size()};
    const std::int64_t to = ((node + (node % 2 == 0 ? rho : -rho)) % all + all) % all;
    return folded() ? fold_.centre[to] : static_cast<Rank>(to);
}

Rank TreeRing::binomial_target(Rank coordinate, int step) const {
    const bool doubling = kind_.distance == TreeKind::Distance::doubling;
    const std::int64_t to =
        coordinate + (std::int64_t{1} << (doubling ? step : pattern_steps_ - 1 - step));
    return to < size() ? static_cast<Rank>(to) : none;
}

std::shared_ptr<const TreeRing> tree_ring(TreeKind kind, Rank size) {
    static std::mutex mutex;
    static auto& trees = *new std::map<std::pair<TreeKind, Rank>, std::shared_ptr<const TreeRing>>;
    const std::lock_guard lock(mutex);
    std::shared_ptr<const TreeRing>& tree = trees[{kind, size}];
    if (tree == nullptr) {
        tree = std::make_shared<const TreeRing>(kind, size);
    }
    return tree;
}

}  // namespace trefoil
