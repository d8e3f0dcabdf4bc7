// SPDX-License-Identifier: BSD-3-Clause
// Extents of blocks, first those of the vector, then those of scratch.
#include "comm/plan/part_runs.hpp"

#include <algorithm>
#include <array>

namespace trefoil {

PartRuns::PartRuns(const VectorMap& map, const Part& part, std::uint32_t index,
                   std::size_t scratch_begin, bool from_input)
    : map_(&map),
      part_(&part),
      index_(index),
      scratch_begin_(scratch_begin),
      scratch_block_bytes_(part.scratch_blocks > 0 ? map.block_bytes(index, part.scratch_like)
                                                   : 0) {
    for (Block b = 0; from_input && b < part.vector_blocks; ++b) {
        in_input_.push_back(map.begins_in_input(index, b));
    }
}

std::vector<Run> PartRuns::of(std::span<const Extent> extents) const {
    std::vector<Run> result;
    for (const Extent& e : extents) {
        const Block end = e.first + e.count;
        const Block vector_end = std::min(end, part_->vector_blocks);
        if (e.first < vector_end) {
            map_->append(index_, e.first, vector_end, result);
        }
        const Block first = std::max(e.first, part_->vector_blocks);
        if (first < end && scratch_block_bytes_ > 0) {
            result.push_back({{Location::scratch, scratch_begin_ + (first - part_->vector_blocks) *
                                                                       scratch_block_bytes_},
                              (end - first) * scratch_block_bytes_});
        }
    }
    return result;
}

std::vector<Run> PartRuns::sources(std::span<const Extent> extents) const {
    std::vector<Run> result;
    for (const Extent& e : extents) {
        const Block extent_end = e.first + e.count;
        const Block vector_end = std::min(extent_end, part_->vector_blocks);
        Block first = e.first;
        while (first < vector_end) {
            Block end = first + 1;
            while (end < vector_end && is_in_input(end) == is_in_input(first)) {
                ++end;
            }
            if (is_in_input(first)) {
                map_->append_input(index_, first, end, result);
            } else {
                map_->append(index_, first, end, result);
            }
            first = end;
        }
        if (first < extent_end) {
            const Extent scratch{first, extent_end - first};
            for (const Run& run : of(scratch)) {
                result.push_back(run);
            }
        }
    }
    return result;
}

void PartRuns::set_built(std::span<const Extent> extents) {
    for (const Extent& e : extents) {
        const Block end = std::min(e.first + e.count, static_cast<Block>(in_input_.size()));
        for (Block b = e.first; b < end; ++b) {
            in_input_[b] = false;
        }
    }
}

void PartRuns::build(std::span<const Extent> extents, std::vector<Transfer>& copies) {
    side_by_side(std::array{of(extents), sources(extents)},
                 [&](const std::array<Location, 2>& at, std::size_t bytes) {
                     if (at[0] != at[1]) {
                         copies.push_back({at[0], at[1], bytes});
                     }
                 });
    set_built(extents);
}

void PartRuns::build_unless_whole(std::span<const Extent> extents, std::vector<Transfer>& copies) {
    if (!in_input_.empty() && sources(extents).size() > of(extents).size()) {
        build(extents, copies);
    }
}

void PartRuns::build_wanted(std::vector<Transfer>& copies) {
    std::vector<Extent> wanted;
    for (Block b = 0; b < in_input_.size(); ++b) {
        if (in_input_[b] && map_->is_wanted(index_, b)) {
            wanted.push_back({b, 1});
        }
    }
    build(wanted, copies);
}

}  // namespace trefoil
