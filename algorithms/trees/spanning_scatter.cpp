// SPDX-License-Identifier: BSD-3-Clause
// spanning-trees: scatter and gather along arc-disjoint spanning trees, on any torus.
//
// One part per tree: each rank's block is divided among all trees, and all 2D ports of the root
// work at once without sharing a link. Scatter: in step s the root sends the blocks of the ranks at
// depth L - s, the farthest first (L: the deepest tree's depth), and a rank at depth d passes on
// what left the root d steps earlier, to each child what belongs below it. So the blocks for
// depth e arrive there in step L - 1, all in the last step; L steps, and the root sends each byte
// once. Gather is the same backwards in time.
//
//     depth 0   3 2 1      depths whose blocks are sent in each step, L = 3
//     depth 1   . 3 2
//     depth 2   . . 3
#include <algorithm>

#include "algorithms/trees/spanning_rooted.hpp"
#include "algorithms/trees/spanning_trees.hpp"

namespace trefoil {

namespace {

/// What lies below a rank on one port: the blocks of ranks by depth.
struct Branch {
    Port port;
    std::vector<std::vector<Extent>> by_depth;
};

class Distribution {
  public:
    Distribution(const Torus& torus, Rank rank, const BuildOptions& options)
        : torus_(torus),
          rank_(rank),
          root_(options.root),
          trees_(torus, options.root),
          deepest_(trees_.depth()),
          writer_(rank) {}

    Schedule scatter() {
        for (int t = 0; t < trees_.count(); ++t) {
            begin_part(t);
            for (int s = 0; s < deepest_; ++s) {
                writer_.step();
                for (const Branch& child : children_) {
                    send(child, deepest_ - s + depth_);
                }
                if (rank_ != root_) {
                    receive(parent_, deepest_ - s + depth_ - 1);
                }
            }
        }
        return finish();
    }

    Schedule gather() {
        for (int t = 0; t < trees_.count(); ++t) {
            begin_part(t);
            for (int s = deepest_ - 1; s >= 0; --s) {
                writer_.step();
                if (rank_ != root_) {
                    send(parent_, deepest_ - s + depth_ - 1);
                }
                for (const Branch& child : children_) {
                    receive(child, deepest_ - s + depth_);
                }
            }
        }
        return finish();
    }

  private:
    void begin_part(int tree) {
        writer_.part(static_cast<Block>(torus_.ranks()));
        depth_ = trees_.depth(tree, rank_);
        children_.clear();
        for (const Port port : trees_.children(tree, rank_)) {
            children_.push_back(below(tree, torus_.neighbour(rank_, port), port));
        }
        if (rank_ != root_) {
            parent_ = below(tree, rank_, trees_.entry(tree, rank_).opposite());
        }
    }

    Schedule finish() {
        if (trees_.count() == 0) {
            writer_.part(1);
        }
        return writer_.take();
    }

    /// The subtree of `top`, level by level.
    Branch below(int tree, Rank top, Port port) const {
        Branch branch{port, {}};
        branch.by_depth.resize(deepest_ + 1);
        std::vector<Rank> level{top};
        for (int depth = trees_.depth(tree, top); !level.empty(); ++depth) {
            std::vector<Rank> next;
            for (const Rank r : level) {
                for (const Port p : trees_.children(tree, r)) {
                    next.push_back(torus_.neighbour(r, p));
                }
            }
            std::sort(level.begin(), level.end());
            for (const Rank r : level) {
                branch.by_depth[depth].push_back({static_cast<Block>(r), 1});
            }
            level = std::move(next);
        }
        return branch;
    }

    const std::vector<Extent>* at(const Branch& branch, int depth) const {
        const bool exists = depth <= deepest_ && !branch.by_depth[depth].empty();
        return exists ? &branch.by_depth[depth] : nullptr;
    }
    void send(const Branch& to, int depth) {
        if (const auto* blocks = at(to, depth)) {
            writer_.send(torus_.neighbour(rank_, to.port), to.port, *blocks);
        }
    }
    void receive(const Branch& from, int depth) {
        if (const auto* blocks = at(from, depth)) {
            writer_.receive(torus_.neighbour(rank_, from.port), from.port, Action::replace,
                            *blocks);
        }
    }

    const Torus& torus_;
    Rank rank_;
    Rank root_;
    SpanningTrees trees_;
    int deepest_;
    ScheduleWriter writer_;

    // Of the part under way.
    int depth_ = 0;
    Branch parent_;  ///< the rank's own subtree, with itself
    std::vector<Branch> children_;
};

}  // namespace

Schedule build_spanning_scatter(const Torus& torus, Rank rank, const BuildOptions& options) {
    return Distribution(torus, rank, options).scatter();
}

Schedule build_spanning_gather(const Torus& torus, Rank rank, const BuildOptions& options) {
    return Distribution(torus, rank, options).gather();
}

}  // namespace trefoil
