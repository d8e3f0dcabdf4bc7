// SPDX-License-Identifier: BSD-3-Clause
// Where the blocks of a part lie, as runs of bytes: where they are built, or still in the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/schedule/schedule.hpp"
#include "comm/plan/vector_map.hpp"

namespace trefoil {

/// Blocks of the vector are built where the map says; scratch blocks side by side, from
/// `scratch_begin` on in the scratch memory. What the rank begins with is read in the input until
/// something is done to it, and what is only sent on is never copied. Told the steps in their
/// order.
class PartRuns {
  public:
    /// `map` and the schedule of `part` outlive it. `from_input`: nothing of the input has been
    /// copied.
    PartRuns(const VectorMap& map, const Part& part, std::uint32_t index, std::size_t scratch_begin,
             bool from_input);

    /// Where they are built. Empty ones are left out, neighbours merged.
    std::vector<Run> of(std::span<const Extent> extents) const;
    std::vector<Run> of(const Extent& extent) const { return of({&extent, 1}); }
    /// Where they can be read now.
    std::vector<Run> sources(std::span<const Extent> extents) const;
    std::vector<Run> sources(const Extent& extent) const { return sources({&extent, 1}); }

    /// From now on they are where they are built.
    void set_built(std::span<const Extent> extents);
    /// The same by copies.
    void build(std::span<const Extent> extents, std::vector<Transfer>& copies);
    /// The same where a message that they make would be of more runs otherwise.
    void build_unless_whole(std::span<const Extent> extents, std::vector<Transfer>& copies);
    /// After the last step: the same for what is wanted.
    void build_wanted(std::vector<Transfer>& copies);

    const Part& part() const { return *part_; }
    std::size_t scratch_bytes() const { return scratch_block_bytes_ * part_->scratch_blocks; }

  private:
    bool is_in_input(Block block) const { return !in_input_.empty() && in_input_[block]; }

    const VectorMap* map_;
    const Part* part_;
    std::uint32_t index_;
    std::size_t scratch_begin_, scratch_block_bytes_;
    std::vector<bool> in_input_;  ///< by block of the vector; empty: none is
};

}  // namespace trefoil
