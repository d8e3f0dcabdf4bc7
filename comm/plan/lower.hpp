// SPDX-License-Identifier: BSD-3-Clause
// Lowering: from a schedule in blocks to a program in bytes for one vector length.
#pragma once

#include "algorithms/schedule/schedule.hpp"
#include "comm/plan/routes.hpp"
#include "comm/plan/vector_map.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/program.hpp"

namespace trefoil {

struct LowerOptions {
    bool pack_all = false;      ///< a group needs registered sources: puts read its pack buffer
    bool acknowledged = false;  ///< senders hear from receivers how far they are
    /// The step of the schedule before which all pieces of a pipeline begin that returns
    /// everything; 0: it is none.
    std::uint32_t drains_from = 0;
    /// Only the two ranks of a message know its length, and may mean different ones. Then lengths
    /// decide nothing but themselves, so that the receiver sees that they differ.
    bool counts_in_pairs = false;
    /// Elements may want more than an allocation's alignment: messages begin with cache lines.
    bool at_lines = false;
};

/// The program of `schedule` for the segment that `map` describes. Channels that it needs are added
/// to `channels`, with ways back if it is `acknowledged`. Messages whose extents are empty at this
/// length are left out on both sides; signals (messages without extents) stay. Throws
/// Error(unsupported) when the messages from or to a peer do not fit a landing slot or exceed
/// Notification::index_limit, and what adding channels throws.
Program lower(const Schedule& schedule, const VectorMap& map, Channels& channels,
              const LowerOptions& options = {});

}  // namespace trefoil
