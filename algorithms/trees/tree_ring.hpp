// SPDX-License-Identifier: BSD-3-Clause
// A broadcast tree on one ring: who tells whom in which step. From it the trees of all tori are
// composed (algorithms/trees/torus_tree.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/schedule/schedule.hpp"
#include "algorithms/trees/tree_fold.hpp"
#include "algorithms/trees/tree_kind.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// What is below `coordinate` through its children of `step` and later, itself included.
struct TreeBranch {
    Rank coordinate = 0;
    int step = 0;
};

/// A tree of ceil(log2 size) steps that begins at coordinate 0; in each step everyone reached
/// reaches at most one more. De Sensi et al., Bine trees, SC 2025, section 3:
///
///     doubling   0->1   0->7 1->2   0->3 1->6 2->5 7->4         eight coordinates
///     halving    0->3   0->7 3->4   0->1 3->2 4->5 7->6
///
/// Bine's rule holds on even sizes. An odd ring is cut into 2^k groups of one or two neighbours
/// (TreeFold); the tree runs over the centres of the groups, who tell their neighbours in a last
/// step. Takes time and memory in proportion to size * steps. Immutable and thread-safe.
class TreeRing {
  public:
    static constexpr Rank none = -1;

    TreeRing(TreeKind kind, Rank size);

    Rank size() const { return static_cast<Rank>(parent_.size()); }
    int steps() const { return steps_; }
    /// Who reaches `coordinate`; none for 0.
    Rank parent(Rank coordinate) const { return parent_[coordinate]; }
    /// The step in which `coordinate` is reached; -1 for 0.
    int joined(Rank coordinate) const { return joined_[coordinate]; }
    /// Whom `coordinate` reaches in `step`, or none.
    Rank child(Rank coordinate, int step) const;
    /// How many coordinates are below `coordinate`, itself included.
    Rank below(Rank coordinate) const { return below_[coordinate]; }
    /// The sums of `weights` over what is below each coordinate; no weights: of ones.
    std::vector<std::int64_t> weights_below(std::vector<Block> weights) const;
    /// Appends the coordinates of a branch.
    void collect(TreeBranch branch, std::vector<Rank>& out) const;
    /// The last one on the way from 0 to `coordinate` that is reached before `step`.
    Rank ancestor(Rank coordinate, int step) const;

  private:
    /// Whom the rule pairs `coordinate` with in `step`, reached already or not; or none.
    Rank target(Rank coordinate, int step) const;
    Rank bine_target(Rank coordinate, int step) const;
    Rank binomial_target(Rank coordinate, int step) const;
    bool folded() const { return !group_.empty(); }
    void grow();

    TreeKind kind_;
    int steps_ = 0;
    int pattern_steps_ = 0;    // without the last step of folded rings
    TreeFold fold_;            // of odd rings of Bine; else empty
    std::vector<Rank> group_;  // of the centres; none of others
    std::vector<Rank> parent_;
    std::vector<int> joined_;
    std::vector<Rank> below_;
};

/// The same tree for whoever asks: kept, as the schedules of all ranks are made of it. Thread-safe.
std::shared_ptr<const TreeRing> tree_ring(TreeKind kind, Rank size);

}  // namespace trefoil
