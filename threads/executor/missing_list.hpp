// SPDX-License-Identifier: BSD-3-Clause
// What the segments in flight wait for.
#pragma once

#include <string>
#include <vector>

#include "threads/executor/call_report.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/segment_queue.hpp"
#include "threads/executor/stored_calls.hpp"

namespace trefoil {

/// Looks at the segments in flight, by worker 0, which starts them, or while the engine is held.
/// Others may change what worker 0 sees meanwhile, so the answers are for messages, and for waits
/// that have lasted long.
class MissingList {
  public:
    MissingList(const Channels& channels, const SegmentQueue& queue, const StoredCalls& stored)
        : channels_(channels), queue_(queue), stored_(stored) {}

    /// At most one of each channel and direction; messages come first.
    std::vector<Missing> list() const;
    /// Those of one call.
    std::vector<Missing> list(const RunningCall& call) const;
    /// Those from which something is missing, each once.
    std::vector<Rank> ranks() const;

    /// "allreduce of ...: waits for step 1 of part 0 from rank 3 through port +0, ..."
    std::string text(const char* call) const;

  private:
    /// Null: of all calls.
    std::vector<Missing> of(const RunningCall* call) const;

    const Channels& channels_;
    const SegmentQueue& queue_;
    const StoredCalls& stored_;
};

}  // namespace trefoil
