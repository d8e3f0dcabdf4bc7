// SPDX-License-Identifier: BSD-3-Clause
// Arc-disjoint spanning trees of a torus: two for each dimension longer than 1, rooted anywhere.
//
// Every tree reaches every rank, and no directed link belongs to two trees. So as many pipelines as
// the root has ports run at once without meeting (the idea of Johnsson and Ho, IEEE Transactions on
// Computers 38(9), 1989, for hypercubes). At every rank but the root each arriving arc belongs to
// another tree: the construction is a bijection from trees to arcs at each rank, found from its
// coordinates alone.
//
// Coordinates are relative to the root; S is the set of dimensions in which a rank differs from it,
// and side(k) the sense in which coordinate k is reached by the shorter way. Tree (j, s) leaves the
// root through the port of dimension j in the sense s. It enters a rank along
//   j outside S:       (j, -s), from the rank one further, where the tree already is
//   j in S, s = side:  (k, side(k)), k = the dimension before j in S, cyclically (j itself if there
//                      is no other): a shortest way, and dimension j is used last on the way to the
//                      root, thus not before coordinate j is one
//   j in S, s = -side: (j, s), straight on, all the way around dimension j
// The middle line permutes the arcs of the senses side(k) among the trees of these senses; the
// others keep theirs.
//
// A dimension of size 2 has but one other layer, which both of its trees fill without the arcs of
// their own dimension. With j1, ..., jm the dimensions of size 2 in S and k1, ..., kq the longer
// ones, q > 1, trees (j1, +) and (j1, -) take kq and k1 by the shorter way, trees (ji, s) take
// (j(i-1), s), trees k1 and k2 of the sense side take (jm, +) and (jm, -), and tree ki of that
// sense takes k(i-1). When q = 1, trees (j1, s) take (k1, s), the one left and the other right
// around k1, and both trees of k1 take what this leaves, (jm, +) and (jm, -). When q = 0, (j1, s)
// takes (jm, s).
//
// Tree (x, +) on 5x5 with the depths of the ranks; rows y=3 and y=4 are like y=2 and y=1:
//
//     y=2     4  <  3     4  >  5  >  6
//                   ^     ^
//     y=1     3  <  2     3  >  4  >  5
//                   ^     ^
//     y=0     0  >  1  >  2  >  3  >  4
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// The trees around one root. Const functions take time in proportion to the square of the number
/// of dimensions at most, and are thread-safe. Ranks and trees must be in range.
class SpanningTrees {
  public:
    SpanningTrees(const Torus& torus, Rank root);

    /// Two for each dimension longer than 1, in the order of the ports by which they leave the
    /// root; none on a torus of one rank.
    int count() const { return static_cast<int>(2 * moving_.size()); }
    /// Hops from the root to the farthest rank in the deepest tree. Without dimensions of size 2
    /// the most, over dimensions j, of size(j) - 1 + the sum of half the other sizes, rounded down.
    int depth() const;
    /// How many ranks the tree reaches in so many hops; by hops, up to depth().
    std::vector<std::int64_t> ranks_by_depth(int tree) const;
    /// Hops from the root to `rank`.
    int depth(int tree, Rank rank) const;
    /// The direction in which the tree enters `rank`, which must not be the root; its parent is the
    /// neighbour on the opposite port.
    Port entry(int tree, Rank rank) const;
    /// The ports through which the tree leaves `rank` to its children, ascending.
    std::vector<Port> children(int tree, Rank rank) const;

  private:
    /// Dimensions, ascending: 2^31 - 1 ranks have at most 30 that are longer than 1.
    class Few {
      public:
        void push_back(int dimension) { all_[static_cast<std::size_t>(count_++)] = dimension; }
        bool empty() const { return count_ == 0; }
        int size() const { return count_; }
        const int* begin() const { return all_.data(); }
        const int* end() const { return begin() + count_; }
        int front() const { return *begin(); }
        int back() const { return *(end() - 1); }
        int operator[](std::ptrdiff_t i) const { return begin()[i]; }

      private:
        std::array<int, 30> all_{};
        int count_ = 0;
    };

    /// How far `rank` is from the root in the sense of `sign`; 0 to size - 1.
    Rank distance(Rank rank, int dimension, int sign) const;
    /// By the shorter way.
    Rank distance(Rank rank, int dimension) const;
    int side(Rank rank, int dimension) const;
    Port shorter(Rank rank, int dimension) const {
        return Port::towards(dimension, side(rank, dimension));
    }
    /// Those of `dimensions` in which `rank` differs from the root.
    Few differing(const std::vector<int>& dimensions, Rank rank) const;
    Port entry_of_pair(int dimension, int sign, Rank rank) const;
    Port entry_of_long(int dimension, int sign, Rank rank) const;
    int depth_of_pairs() const;
    int depth_of_longs() const;

    Torus torus_;
    Rank root_;
    std::vector<int> moving_;  ///< dimensions longer than 1
    std::vector<int> pairs_;   ///< dimensions of size 2
    std::vector<int> longs_;   ///< dimensions longer than 2
};

}  // namespace trefoil
