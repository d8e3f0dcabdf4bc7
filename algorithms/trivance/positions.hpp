// SPDX-License-Identifier: BSD-3-Clause
// The order of the ring-blocks in which Trivance's messages are few extents.
#pragma once

#include "algorithms/schedule/schedule.hpp"
#include "algorithms/trivance/tree.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// A permutation of the coordinates of a ring. Base-3 digits come first, in the order of their
/// steps: what such a step sends and leaves are cells. The rest c of the coordinate is at c *
/// factor modulo the number of rests: with factor 1/3 every third block is a neighbour, with 1/9
/// every ninth, and so on, so that the regular patterns of a tree fall into few runs.
class TrivancePositions {
  public:
    /// Chooses the factor that needs the fewest extents in a torus of `dimensions` such rings.
    TrivancePositions(const TrivanceTree& tree, int dimensions);

    Block position(Rank coordinate) const {
        Block first = 0;
        Rank cell = size_;
        for (int i = 0; i < digits_; ++i) {
            cell /= 3;
            first += static_cast<Block>(coordinate % 3 * cell);
            coordinate /= 3;
        }
        return first + static_cast<Block>(static_cast<std::int64_t>(coordinate) * factor_ % cell);
    }

  private:
    Rank size_;
    int digits_;
    Rank factor_ = 1;
};

}  // namespace trefoil
