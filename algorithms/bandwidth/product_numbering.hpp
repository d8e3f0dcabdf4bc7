// SPDX-License-Identifier: BSD-3-Clause
// How the blocks of a product part are numbered.
#pragma once

#include <span>
#include <vector>

#include "algorithms/bandwidth/product_part.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace trefoil {

/// Finds the extents of products of ring positions. Blocks are numbered by the leaves of one tree:
/// its level i cuts the cells of dimension order[i] as the ring of that dimension cuts them in that
/// step. Where what is held is a cell, a message is a cell of the tree, hence one extent.
class ProductNumbering {
  public:
    /// `part` must outlive this. `sizes_only`: extents() gives one extent of the right size.
    explicit ProductNumbering(const ProductPart& part, bool sizes_only = false);

    Block blocks() const { return blocks_; }

    /// The set of positions of one dimension; it must live until it is set again.
    void set(int dimension, std::span<const Extent> positions) { sets_[dimension] = positions; }

    /// The extents of the product of the sets, ascending and merged; what `out` held is gone.
    void extents(std::vector<Extent>& out);

  private:
    struct Level {
        int dimension = 0;
        int step = 0;
        bool singles = false;  ///< cuts into single positions
    };

    void add_level(int dimension, int& step);
    void descend(std::size_t level, Block first, Block volume, std::vector<Extent>& out);
    void descend_into_cuts(std::size_t level, Block first, Block volume, std::vector<Extent>& out);

    const ProductPart& part_;
    bool sizes_only_;
    std::vector<Extent> whole_;
    std::vector<Extent> cells_;
    std::vector<std::span<const Extent>> sets_;
    std::vector<Level> levels_;
    std::vector<Block> cuts_;  // sizes of the cells on the path, used as a stack
    Block blocks_ = 1;
};

}  // namespace trefoil
