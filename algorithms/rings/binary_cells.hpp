// SPDX-License-Identifier: BSD-3-Clause
// Cells of a ring's positions as the nodes of a binary tree some of whose leaves are missing.
#pragma once

#include <vector>

#include "algorithms/schedule/schedule.hpp"

namespace trefoil {

/// A tree of `depth` levels over 2^depth leaves; the leaves that are present hold positions 0, 1,
/// ... from left to right. A cell is what lies below a node.
class BinaryCells {
  public:
    /// All leaves are present; takes no memory.
    explicit BinaryCells(int depth) : depth_(depth) {}
    /// present[leaf], 2^depth of them.
    BinaryCells(int depth, const std::vector<bool>& present);

    bool complete() const { return before_.empty(); }
    /// The cell `level` levels below the root in which `leaf` lies; it may be empty.
    Extent cell(Block leaf, int level) const;
    /// Appends the sizes of the two halves of a cell of `level` that is not empty.
    void cut(Extent cell, int level, std::vector<Block>& sizes) const;

  private:
    int depth_;
    std::vector<Block> before_;  ///< present leaves left of each leaf and of the end
};

}  // namespace trefoil
