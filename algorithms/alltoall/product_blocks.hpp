// SPDX-License-Identifier: BSD-3-Clause
// The blocks of a message of a torus alltoall: a product of ring pairs, one of each dimension.
#pragma once

#include <vector>

#include "algorithms/alltoall/ring_alltoall.hpp"

namespace trefoil {

/// Blocks (ranks, in order) that came to the sender of a message in the same step; -1: its user's.
struct BlockGroup {
    int since = -1;
    std::vector<AlltoallPair> blocks;
};

/// The blocks of one message in the order that both ends agree on: by the step in which they came
/// to the sender, then by target and source. No group is empty.
using MessageBlocks = std::vector<BlockGroup>;

/// The blocks whose coordinates (target_j, source_j) are in a given list for every dimension j, and
/// of a given class, if blocks are told apart so: the sum of target_j - source_j mod `classes`.
class ProductBlocks {
  public:
    /// `torus` outlives it.
    ProductBlocks(const Torus& torus, int classes, int wanted);

    /// The list of a dimension, in order; steps[i] is the step of the alltoall for `since` = i. All
    /// are to be set.
    void set(int dimension, const std::vector<HeldPair>& pairs, const std::vector<int>& steps);

    /// Takes time in proportion to the blocks of all classes.
    MessageBlocks blocks() const;

  private:
    /// A source or a target of one dimension: what it adds to the rank and to the class.
    struct Coordinate {
        Rank rank = 0;
        int offset = 0;
    };
    struct Source : Coordinate {
        int since;
    };
    struct Target : Coordinate {
        std::size_t first, end;  // its sources
    };
    struct Line {
        std::vector<Target> targets;
        std::vector<Source> sources;
    };
    struct Walk;

    const Torus& torus_;
    int classes_, wanted_;
    std::vector<Line> lines_;
};

}  // namespace trefoil
