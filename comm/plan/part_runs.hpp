// SPDX-License-Identifier: BSD-3-Clause
// Where the blocks of a part lie, as runs of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/schedule/schedule.hpp"
#include "comm/plan/vector_map.hpp"

namespace trefoil {

/// Blocks of the vector lie where the map says; scratch blocks side by side, from `scratch_begin`
/// on in the scratch memory. `map` and the schedule of `part` outlive it.
class PartRuns {
  public:
    PartRuns(const VectorMap& map, const Part& part, std::uint32_t index,
             std::size_t scratch_begin);

    /// Empty ones are left out, neighbours merged.
    std::vector<Run> of(std::span<const Extent> extents) const;
    std::vector<Run> of(const Extent& extent) const { return of({&extent, 1}); }
    const Part& part() const { return *part_; }
    std::size_t scratch_bytes() const { return scratch_block_bytes_ * part_->scratch_blocks; }

  private:
    const VectorMap* map_;
    const Part* part_;
    std::uint32_t index_;
    std::size_t scratch_begin_, scratch_block_bytes_;
};

}  // namespace trefoil
