// SPDX-License-Identifier: BSD-3-Clause
// Cells of a binary tree by counting leaves.
#include "algorithms/rings/binary_cells.hpp"

#include <algorithm>

namespace trefoil {

BinaryCells::BinaryCells(int depth, const std::vector<bool>& present) : depth_(depth) {
    before_.reserve(present.size() + 1);
    Block count = 0;
    for (const bool leaf : present) {
        before_.push_back(count);
        count += leaf ? 1 : 0;
    }
    before_.push_back(count);
}

Extent BinaryCells::cell(Block leaf, int level) const {
    const int below = depth_ - level;
    const Block first = leaf >> below << below;
    const Block end = first + (Block{1} << below);
    if (complete()) {
        return {first, end - first};
    }
    return {before_[first], before_[end] - before_[first]};
}

void BinaryCells::cut(Extent cell, int level, std::vector<Block>& sizes) const {
    if (complete()) {
        sizes.insert(sizes.end(), 2, cell.count / 2);
        return;
    }
    // The leaf of the cell's first position, hence the node and the middle of its leaves.
    const auto after = std::upper_bound(before_.begin(), before_.end(), cell.first);
    const auto leaf = static_cast<Block>(after - before_.begin()) - 1;
    const int below = depth_ - level;
    const Block middle = before_[(leaf >> below << below) + (Block{1} << (below - 1))];
    sizes.push_back(middle - cell.first);
    sizes.push_back(cell.first + cell.count - middle);
}

}  // namespace trefoil
