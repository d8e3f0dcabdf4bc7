// SPDX-License-Identifier: BSD-3-Clause
// What the segments in flight wait for.
#pragma once

#include <string>
#include <vector>

#include "threads/executor/channels.hpp"
#include "threads/executor/segment_queue.hpp"

namespace trefoil {

/// Looks at the segments in flight, by worker 0, which starts them. Others may change what it sees
/// meanwhile, so the answers are for messages, and for waits that have lasted long.
class MissingPieces {
  public:
    MissingPieces(const Channels& channels, const SegmentQueue& queue)
        : channels_(channels), queue_(queue) {}

    /// The open step of a segment that waits for a message through the channel; null: none does.
    const ProgramStep* step_waiting_for(std::size_t in_channel) const;
    /// A put of an open step waits until the peer has connected, or has acknowledged an earlier
    /// use.
    bool blocked(std::size_t out_channel) const;

    /// Those from which something is missing, each once.
    std::vector<Rank> ranks() const;

    /// "allreduce of ...: waits for step 1 of part 0 from rank 3 through port +0, ..."
    std::string text(const char* call) const;

  private:
    const Channels& channels_;
    const SegmentQueue& queue_;
};

}  // namespace trefoil
