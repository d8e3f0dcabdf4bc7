// SPDX-License-Identifier: BSD-3-Clause
// Extents of blocks, first those of the vector, then those of scratch.
#include "comm/plan/part_runs.hpp"

#include <algorithm>

namespace trefoil {

PartRuns::PartRuns(const VectorMap& map, const Part& part, std::uint32_t index,
                   std::size_t scratch_begin)
    : map_(&map),
      part_(&part),
      index_(index),
      scratch_begin_(scratch_begin),
      scratch_block_bytes_(part.scratch_blocks > 0 ? map.block_bytes(index, part.scratch_like)
                                                   : 0) {}

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

}  // namespace trefoil
