// SPDX-License-Identifier: BSD-3-Clause
// Performing a program's operations: copies, reductions, and access to the memory of other ranks.
#pragma once

#include "threads/executor/call.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/failure.hpp"
#include "threads/executor/peer_reads.hpp"
#include "threads/executor/segment_buffers.hpp"
#include "threads/timeline/trace.hpp"

namespace trefoil {

/// Knows buffers and kernels, and nothing of steps, events or puts. Keeps no state: any worker may
/// call it, for different operations at the same time. Peers' vectors in mapped memory are places
/// like all others.
class Operations {
  public:
    /// `channels` tell how to get at a peer's memory. All outlive this.
    Operations(const Channels& channels, PeerReads& reads, Failure& failure)
        : channels_(channels), reads_(reads), failure_(failure) {}

    /// Performs `range` of the program's operations in their order, and notes each in `trace`
    /// unless it is null. When one fails, the failure is set and the rest are left out.
    void perform(const Call& call, const Program& program, SegmentBuffers& buffers,
                 ProgramRange range, TraceRing* trace) const noexcept;

  private:
    bool perform(const Call& call, const Program& program, SegmentBuffers& buffers,
                 const ProgramOp& op) const noexcept;
    bool open(const Program& program, SegmentBuffers& buffers, const ProgramOp& op) const noexcept;
    bool pull(const OutChannel& peer, const SegmentBuffers& buffers,
              const ProgramOp& op) const noexcept;

    const Channels& channels_;
    PeerReads& reads_;
    Failure& failure_;
};

}  // namespace trefoil
