// SPDX-License-Identifier: BSD-3-Clause
// Products of ring trees. Before a step, those reached are the product of the coordinates reached
// in each ring, and the ranks that one of them is still to reach the product of the coordinates
// below its own in each ring. A step of dimension j cuts that product in two: what is below the
// child in ring j goes to the child, the rest stays.
#include "algorithms/trees/torus_tree.hpp"

#include <algorithm>

#include "algorithms/schedule/interleave.hpp"

namespace trefoil {

namespace {

/// Follows one rank from the root through the tree.
class Descent {
  public:
    Descent(const std::vector<std::shared_ptr<const TreeRing>>& rings, std::vector<Rank> goal)
        : rings_(rings), goal_(std::move(goal)), holder_(goal_.size(), 0), done_(goal_.size(), 0) {
        for (const auto& ring : rings) {
            below_.push_back(static_cast<Block>(ring->size()));
            blocks_.count *= below_.back();
        }
    }

    /// Where the rank's blocks are before the next step; the rank itself once it is reached.
    const std::vector<Rank>& holder() const { return holder_; }
    bool is_reached() const { return holder_ == goal_; }
    /// The holder's blocks.
    Extent blocks() const { return blocks_; }
    /// Whose blocks the holder has.
    std::vector<TreeBranch> branches() const {
        std::vector<TreeBranch> result;
        for (std::size_t j = 0; j < holder_.size(); ++j) {
            result.push_back({holder_[j], done_[j]});
        }
        return result;
    }

    /// Takes a step of dimension j. Returns what the holder gives away (no blocks: nothing);
    /// followed() says whether the rank's blocks were among it.
    Extent step(int j) {
        const TreeRing& ring = *rings_[j];
        const int step = done_[j]++;
        const Rank child = ring.child(holder_[j], step);
        followed_ = false;
        if (child == TreeRing::none) {
            return {};
        }
        const auto leaving = static_cast<Block>(ring.below(child));
        const Block others = blocks_.count / below_[j];
        const Block staying = blocks_.count - leaving * others;
        const Extent given{blocks_.first + staying, leaving * others};
        followed_ = ring.ancestor(goal_[j], step + 1) == child;
        if (followed_) {
            holder_[j] = child;
            blocks_ = given;
            below_[j] = leaving;
        } else {
            blocks_.count = staying;
            below_[j] -= leaving;
        }
        return given;
    }
    bool followed() const { return followed_; }
    /// Whom the last step of dimension j gave something, when that was not followed.
    Rank child(int j) const { return rings_[j]->child(holder_[j], done_[j] - 1); }
    Rank parent(int j) const { return rings_[j]->parent(holder_[j]); }

  private:
    const std::vector<std::shared_ptr<const TreeRing>>& rings_;
    std::vector<Rank> goal_;
    std::vector<Rank> holder_;
    std::vector<int> done_;
    std::vector<Block> below_;  // per dimension, what the holder still has to reach and itself
    Extent blocks_{0, 1};
    bool followed_ = false;
};

}  // namespace

TorusTree::TorusTree(const Torus& torus, TreeKind kind, Rank root, TreePorts ports)
    : torus_(torus), root_(root), in_line_(ports == TreePorts::one) {
    const std::vector<Rank> sizes = in_line_ ? std::vector<Rank>{torus.ranks()} : torus.sizes();
    std::vector<int> steps;
    for (const Rank size : sizes) {
        rings_.push_back(tree_ring(kind, size));
        steps.push_back(rings_.back()->steps());
    }
    const auto moving =
        static_cast<int>(std::count_if(steps.begin(), steps.end(), [](int s) { return s > 0; }));
    const int parts = ports == TreePorts::all ? std::max(2 * moving, 1) : 1;
    for (int p = 0; p < parts; ++p) {
        orders_.push_back(interleaved(steps, p % std::max(moving, 1)));
        if (kind.distance == TreeKind::Distance::halving) {
            std::reverse(orders_.back().begin(), orders_.back().end());
        }
    }
}

std::vector<Rank> TorusTree::coordinates(Rank rank, int part) const {
    std::vector<Rank> here;
    for (std::size_t j = 0; j < rings_.size(); ++j) {
        const std::int64_t size = rings_[j]->size();
        const int dimension = static_cast<int>(j);
        const std::int64_t apart =
            in_line_ ? rank - root_
                     : torus_.coordinate(rank, dimension) - torus_.coordinate(root_, dimension);
        here.push_back(static_cast<Rank>(((is_mirrored(part) ? -apart : apart) + size) % size));
    }
    return here;
}

Rank TorusTree::offset(Rank coordinate, int dimension, int part) const {
    const Rank size = rings_[dimension]->size();
    return is_mirrored(part) && coordinate > 0 ? size - coordinate : coordinate;
}

Rank TorusTree::rank_at(const std::vector<Rank>& coordinates, int part) const {
    if (in_line_) {
        return static_cast<Rank>((std::int64_t{root_} + coordinates[0]) % torus_.ranks());
    }
    Rank rank = root_;
    for (int j = 0; j < torus_.dimensions(); ++j) {
        rank = torus_.shifted(rank, j, is_mirrored(part) ? -coordinates[j] : coordinates[j]);
    }
    return rank;
}

// The shorter way. Where both are equally long the mirrored parts take the other one.
Port TorusTree::port(Rank from, Rank to, int part) const {
    const Port port = torus_.first_port(from, to);
    const bool turned = is_mirrored(part) && torus_.is_tie(from, to, port.dimension());
    return turned ? port.opposite() : port;
}

TreePlace TorusTree::place(Rank rank, int part) const {
    TreePlace place;
    Descent descent(rings_, coordinates(rank, part));
    bool reached = descent.is_reached();
    const std::vector<int>& order = orders_[part];
    for (int s = 0; s < static_cast<int>(order.size()); ++s) {
        const int j = order[s];
        const Extent given = descent.step(j);
        if (descent.followed()) {
            reached = descent.is_reached();
            if (reached) {
                std::vector<Rank> upper = descent.holder();
                upper[j] = descent.parent(j);
                const Rank parent = rank_at(upper, part);
                place.parent = {s, parent, port(parent, rank, part), given, descent.branches()};
            }
        } else if (reached && given.count > 0) {
            std::vector<Rank> lower = descent.holder();
            lower[j] = descent.child(j);
            const Rank child = rank_at(lower, part);
            std::vector<TreeBranch> below = descent.branches();
            below[j].coordinate = lower[j];
            place.children.push_back({s, child, port(rank, child, part), given, std::move(below)});
        }
    }
    place.own = descent.blocks().first;
    return place;
}

}  // namespace trefoil
