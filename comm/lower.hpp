// SPDX-License-Identifier: BSD-3-Clause
// Lowering: from a schedule in blocks to a program in bytes for one vector length.
#pragma once

#include "algorithms/schedule.hpp"
#include "threads/program.hpp"
#include "threads/wire.hpp"

namespace trefoil {

/// The program of `schedule` for a vector of `elements` elements of `element_bytes`. Every channel
/// of the schedule must exist in `wire`. Messages whose extents are empty at this length are left
/// out on both sides; signals (messages without extents) stay. `pack_all`: every put reads from the
/// group's pack buffer (transports that need registered sources). Throws Error(unsupported) when a
/// channel's messages do not fit its landing slot or exceed Notice::index_limit.
Program lower(const Schedule& schedule, const Wire& wire, std::size_t elements,
              std::size_t element_bytes, bool pack_all);

/// Parts begin at multiples of part_unit_bytes and blocks, within their part, at multiples of
/// block_unit_bytes. A message costs its sender and its receiver more than these bytes do, so tiny
/// vectors are better left in few pieces; and no two blocks share a cache line of the part.
inline constexpr std::size_t part_unit_bytes = 512;
inline constexpr std::size_t block_unit_bytes = 64;

/// Landing offsets are multiples of this many bytes: a cache line, and every element's alignment.
inline constexpr std::size_t landing_alignment = 64;

}  // namespace trefoil
