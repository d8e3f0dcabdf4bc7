// SPDX-License-Identifier: BSD-3-Clause
// Scratch blocks for what a rank holds for others in an alltoall.
#pragma once

#include <vector>

#include "algorithms/schedule/schedule.hpp"

namespace trefoil {

/// Gives out runs of blocks and takes them back, first fit, from `begin` on.
class StagingArea {
  public:
    explicit StagingArea(Block begin) : begin_(begin), end_(begin) {}

    /// A run of `count` >= 1 blocks that is not given out.
    Extent take(Block count);
    /// Ends the use of a run that take() gave.
    void give_back(Extent run);
    /// How many blocks from `begin` on have ever been in use.
    Block size() const { return end_ - begin_; }

  private:
    Block begin_, end_;
    std::vector<Extent> free_;  // ascending, never adjacent
};

}  // namespace trefoil
