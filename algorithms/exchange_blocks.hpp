// SPDX-License-Identifier: BSD-3-Clause
// The blocks of a message of a torus exchange: a product of ring pairs, one of each dimension.
#pragma once

#include <vector>

#include "algorithms/ring_exchange.hpp"

namespace trefoil {

/// The blocks of one message in the order that both ends agree on: first those that the sender has
/// from its user, by target; then those that it passes on.
struct MessageBlocks {
    std::vector<Rank> own_targets;      ///< ascending
    std::vector<ExchangePair> passing;  ///< ranks, in order
    bool empty() const { return own_targets.empty() && passing.empty(); }
};

/// The blocks whose coordinates (target_j, source_j) are in a given list for every dimension j, and
/// of a given class, if blocks are told apart so: the sum of target_j - source_j mod `classes`.
class ExchangeBlocks {
  public:
    /// `torus` outlives it.
    ExchangeBlocks(const Torus& torus, int classes, int wanted);

    /// The list of a dimension, in order. All are to be set.
    void set(int dimension, const std::vector<ExchangePair>& pairs);

    /// Takes time in proportion to the blocks of all classes.
    MessageBlocks of_sender(Rank sender) const;

  private:
    /// A source or a target of one dimension: what it adds to the rank and to the class.
    struct Coordinate {
        Rank rank = 0;
        int offset = 0;
    };
    struct Target {
        Coordinate at;
        std::size_t first, end;  // its sources
    };
    struct Line {
        std::vector<Target> targets;
        std::vector<Coordinate> sources;
    };
    struct Walk;

    const Torus& torus_;
    int classes_, wanted_;
    std::vector<Line> lines_;
};

}  // namespace trefoil
