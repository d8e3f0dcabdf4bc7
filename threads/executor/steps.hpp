// SPDX-License-Identifier: BSD-3-Clause
// What follows when an event of a step is counted: steps are completed, the next ones opened,
// segments ended.
#pragma once

#include "threads/executor/failure.hpp"
#include "threads/executor/in_flight.hpp"
#include "threads/executor/operations.hpp"
#include "threads/executor/peer_reads.hpp"
#include "threads/executor/running_segment.hpp"
#include "threads/executor/segment_queue.hpp"
#include "threads/executor/timeline_notes.hpp"
#include "threads/executor/wake_up.hpp"

namespace trefoil {

/// Drives RunningSegments. Keeps no state: any worker may call it, with its own notes.
class Steps {
  public:
    Steps(const Operations& operations, PeerReads& reads, InFlight& in_flight, WakeUp& wake_up,
          const Failure& failure)
        : operations_(operations),
          reads_(reads),
          in_flight_(in_flight),
          wake_up_(wake_up),
          failure_(failure) {}

    /// By worker 0: the queue's next segment, which has started, does what comes before all steps,
    /// is shown to the other workers, and opens the first step of each part.
    void begin(SegmentQueue& queue, TimelineNotes& notes) noexcept;
    /// Whoever counts a step's last event also completes it and opens the next one. After a failure
    /// nothing is opened or ended any more.
    void count_event(RunningSegment& segment, std::uint32_t step, TimelineNotes& notes) noexcept;
    /// A part or a worker does not look at the segment again.
    void release(RunningSegment& segment, TimelineNotes& notes) noexcept;

  private:
    void perform(RunningSegment& segment, ProgramRange range, TimelineNotes& notes) noexcept {
        if (range.count > 0) {
            operations_.perform(segment.call().call(), segment.program(), segment.buffers(), range,
                                notes.ring());
        }
    }
    void perform_after(RunningSegment& segment, const ProgramStep& step,
                       TimelineNotes& notes) noexcept;
    void perform_before(RunningSegment& segment, const ProgramStep& step,
                        TimelineNotes& notes) noexcept;
    void open(RunningSegment& segment, std::uint32_t part, std::uint32_t step,
              TimelineNotes& notes) noexcept;
    void finish_part(RunningSegment& segment, TimelineNotes& notes) noexcept;

    const Operations& operations_;
    PeerReads& reads_;
    InFlight& in_flight_;
    WakeUp& wake_up_;
    const Failure& failure_;
};

}  // namespace trefoil
