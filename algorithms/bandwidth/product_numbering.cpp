// SPDX-License-Identifier: BSD-3-Clause
// Walking the tree by which the blocks of a product part are numbered.
#include "algorithms/bandwidth/product_numbering.hpp"

#include <algorithm>

namespace trefoil {

namespace {

enum class Cover { none, some, all };

Cover cover(std::span<const Extent> set, Extent cell) {
    const Block end = cell.first + cell.count;
    const auto at = std::partition_point(
        set.begin(), set.end(), [&](const Extent& e) { return e.first + e.count <= cell.first; });
    if (at == set.end() || at->first >= end) {
        return Cover::none;
    }
    return at->first <= cell.first && at->first + at->count >= end ? Cover::all : Cover::some;
}

}  // namespace

ProductNumbering::ProductNumbering(const ProductPart& part, bool sizes_only)
    : part_(part), sizes_only_(sizes_only) {
    for (const auto& ring : part.rings) {
        whole_.push_back({0, static_cast<Block>(ring->size())});
        blocks_ *= static_cast<Block>(ring->size());
    }
    sets_.resize(part.rings.size());
    if (sizes_only) {
        return;
    }
    std::vector<int> steps(part.rings.size(), 0);
    for (const int dimension : part.order) {
        if (dimension >= 0) {
            add_level(dimension, steps[dimension]);
        }
    }
}

// The level of the dimension's next step, unless single positions are reached already.
void ProductNumbering::add_level(int dimension, int& step) {
    const RingScatter& ring = *part_.rings[dimension];
    if (step == 0) {
        ring.cut(whole_[dimension], 0, cuts_);
        const bool singles = cuts_.size() == static_cast<std::size_t>(ring.size());
        cuts_.clear();
        levels_.push_back({dimension, 0, singles});
        step = singles ? ring.steps() : 1;
    } else if (step < ring.steps()) {
        levels_.push_back({dimension, step, false});
        step += 1;
    }
}

void ProductNumbering::extents(std::vector<Extent>& out) {
    out.clear();
    if (sizes_only_) {
        Block size = 1;
        for (const std::span<const Extent> set : sets_) {
            size *= static_cast<Block>(block_count(set));
        }
        if (size > 0) {
            out.push_back({0, size});
        }
        return;
    }
    cells_ = whole_;
    descend(0, 0, blocks_, out);
}

// `first` and `volume`: the blocks of the current cell of the tree.
void ProductNumbering::descend(std::size_t level, Block first, Block volume,
                               std::vector<Extent>& out) {
    bool all = true;
    for (std::size_t j = 0; j < sets_.size(); ++j) {
        const Cover c = cover(sets_[j], cells_[j]);
        if (c == Cover::none) {
            return;
        }
        all = all && c == Cover::all;
    }
    if (all || level == levels_.size()) {
        if (!out.empty() && out.back().first + out.back().count == first) {
            out.back().count += volume;
        } else {
            out.push_back({first, volume});
        }
        return;
    }
    descend_into_cuts(level, first, volume, out);
}

void ProductNumbering::descend_into_cuts(std::size_t level, Block first, Block volume,
                                         std::vector<Extent>& out) {
    const auto [dimension, step, singles] = levels_[level];
    const Extent cell = cells_[dimension];
    const Block others = volume / cell.count;
    if (singles) {
        for (const Extent& e : sets_[dimension]) {
            for (Block at = e.first; at < e.first + e.count; ++at) {
                cells_[dimension] = {at, 1};
                descend(level + 1, first + at * others, others, out);
            }
        }
        cells_[dimension] = cell;
        return;
    }
    const std::size_t mark = cuts_.size();
    part_.rings[dimension]->cut(cell, step, cuts_);
    const std::size_t end = cuts_.size();
    Block at = cell.first;
    for (std::size_t k = mark; k < end; ++k) {
        const Block count = cuts_[k];
        if (count > 0) {
            cells_[dimension] = {at, count};
            descend(level + 1, first + (at - cell.first) * others, count * others, out);
            at += count;
        }
    }
    cells_[dimension] = cell;
    cuts_.resize(mark);
}

}  // namespace trefoil
