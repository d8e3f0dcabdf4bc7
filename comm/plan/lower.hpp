// SPDX-License-Identifier: BSD-3-Clause
// Lowering: from a schedule in blocks to a program in bytes for one vector length.
#pragma once

#include "algorithms/schedule/schedule.hpp"
#include "comm/plan/vector_map.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/program.hpp"

namespace trefoil {

/// The program of `schedule` for the segment that `map` describes. Every channel of the schedule
/// must exist in `channels`, with an opposite if `acknowledged`. Messages whose extents are empty
/// at this length are left out on both sides; signals (messages without extents) stay.
/// `acknowledged`: the program ends by acknowledging what arrived. Where a group needs registered
/// sources, its puts read from its pack buffer. Throws Error(unsupported) when a channel's messages
/// do not fit its landing slot or exceed Notification::index_limit.
Program lower(const Schedule& schedule, const VectorMap& map, const Channels& channels,
              bool pack_all, bool acknowledged);

/// Landing offsets are multiples of this many bytes: a cache line, and every element's alignment.
inline constexpr std::size_t landing_alignment = 64;

}  // namespace trefoil
