// SPDX-License-Identifier: BSD-3-Clause
// spanning-trees, trinaryx: bcast, reduce and allreduce in pipelines along arc-disjoint spanning
// trees, on any torus.
//
// One part per tree, two trees per dimension longer than 1: all 2D ports of the root are busy with
// different data, and no link carries two messages in a step. A part is cut into pieces. In bcast a
// rank at depth d of the tree receives piece i in step d-1+i and passes it to all its children in
// step d+i; reduce is the same backwards in time, and what arrives from the children is added to
// the own piece. depth + pieces - 1 steps of 1/(2D pieces) of the vector each, to neighbours only.
//
//     depth 0   0 1 2 3 . .     the piece that is sent in each step
//     depth 1   . 0 1 2 3 .
//     depth 2   . . 0 1 2 3
//
// trinaryx: each piece goes up the tree and comes down again, 2 depth + pieces - 1 steps. A link
// has one piece of a tree that goes up and one of another that comes down, at most. Published are
// three trees that share no edge on a torus of three dimensions; the 2D trees here share no arc,
// carry half as much each, and exist on every torus.
#include <algorithm>

#include "algorithms/trees/spanning_rooted.hpp"
#include "algorithms/trees/spanning_trees.hpp"

namespace trefoil {

namespace {

/// A rank's place in one tree.
struct Place {
    int depth = 0;
    Port from_parent;  ///< the direction in which the tree enters; not at the root
    std::vector<Port> to_children;
};

/// So many that filling the pipeline costs at most half as much as running it.
Block default_pieces(int depth) {
    return static_cast<Block>(std::clamp(2 * depth, 4, 256));
}

class Pipeline {
  public:
    Pipeline(const Torus& torus, Rank rank, const BuildOptions& options)
        : torus_(torus),
          rank_(rank),
          root_(options.root),
          trees_(torus, options.root),
          pieces_(options.pieces != 0 ? options.pieces : default_pieces(trees_.depth())),
          steps_(trees_.depth() + static_cast<int>(pieces_) - 1),
          writer_(rank) {}

    Schedule bcast() {
        for (int t = 0; t < trees_.count(); ++t) {
            const Place place = begin_part(t);
            for (int s = 0; s < steps_; ++s) {
                writer_.step();
                send_down(place, s - place.depth);
                receive_down(place, s - place.depth + 1);
            }
        }
        return finish();
    }

    Schedule reduce() {
        for (int t = 0; t < trees_.count(); ++t) {
            const Place place = begin_part(t);
            for (int s = steps_ - 1; s >= 0; --s) {
                writer_.step();
                send_up(place, s - place.depth + 1);
                receive_up(place, s - place.depth);
            }
        }
        return finish();
    }

    Schedule allreduce() {
        const int depth = trees_.depth();
        for (int t = 0; t < trees_.count(); ++t) {
            const Place place = begin_part(t);
            for (int s = 0; s < steps_ + depth; ++s) {
                writer_.step();
                send_up(place, s - depth + place.depth);
                send_down(place, s - depth - place.depth);
                receive_up(place, s - depth + place.depth + 1);
                receive_down(place, s - depth - place.depth + 1);
            }
        }
        return finish();
    }

  private:
    Place begin_part(int tree) {
        writer_.part(pieces_);
        Place place{trees_.depth(tree, rank_), {}, trees_.children(tree, rank_)};
        if (rank_ != root_) {
            place.from_parent = trees_.entry(tree, rank_);
        }
        return place;
    }

    /// A torus of one rank has no trees.
    Schedule finish() {
        if (trees_.count() == 0) {
            writer_.part(1);
        }
        return writer_.take();
    }

    bool exists(int piece) const { return piece >= 0 && piece < static_cast<int>(pieces_); }
    Extent extent(int piece) const { return {static_cast<Block>(piece), 1}; }
    Rank parent(const Place& place) const {
        return torus_.neighbour(rank_, place.from_parent.opposite());
    }

    void send_down(const Place& place, int piece) {
        if (exists(piece)) {
            const Extent e = extent(piece);
            for (const Port port : place.to_children) {
                writer_.send(torus_.neighbour(rank_, port), port, {&e, 1});
            }
        }
    }
    void receive_down(const Place& place, int piece) {
        if (rank_ != root_ && exists(piece)) {
            const Extent e = extent(piece);
            writer_.receive(parent(place), place.from_parent.opposite(), Action::replace, {&e, 1});
        }
    }
    void send_up(const Place& place, int piece) {
        if (rank_ != root_ && exists(piece)) {
            const Extent e = extent(piece);
            writer_.send(parent(place), place.from_parent.opposite(), {&e, 1});
        }
    }
    void receive_up(const Place& place, int piece) {
        if (exists(piece)) {
            const Extent e = extent(piece);
            for (const Port port : place.to_children) {
                writer_.receive(torus_.neighbour(rank_, port), port, Action::reduce, {&e, 1});
            }
        }
    }

    const Torus& torus_;
    Rank rank_;
    Rank root_;
    SpanningTrees trees_;
    Block pieces_;
    int steps_;
    ScheduleWriter writer_;
};

}  // namespace

Schedule build_spanning_bcast(const Torus& torus, Rank rank, const BuildOptions& options) {
    return Pipeline(torus, rank, options).bcast();
}

Schedule build_spanning_reduce(const Torus& torus, Rank rank, const BuildOptions& options) {
    return Pipeline(torus, rank, options).reduce();
}

Schedule build_trinaryx(const Torus& torus, Rank rank, const BuildOptions& options) {
    return Pipeline(torus, rank, options).allreduce();
}

}  // namespace trefoil
