// SPDX-License-Identifier: BSD-3-Clause
// The segments in flight, in the order in which they started.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "threads/executor/channel_uses.hpp"
#include "threads/executor/running_segment.hpp"

namespace trefoil {

/// Segments are numbered through all calls and start in their order; `segment_window` of them run
/// at a time, segment n in place n mod segment_window. So when a segment starts, the one that is
/// earlier by the window is complete. Nothing here knows calls.
class SegmentQueue {
  public:
    // By worker 0.
    /// The next segment's place is free.
    bool has_room() const { return !places_[next_ % segment_window].running(); }
    /// The next segment, to be started; and its number.
    RunningSegment& next() { return places_[next_ % segment_window]; }
    std::uint64_t next_number() const { return next_; }
    /// The segment that was started last drains, or has ended.
    bool last_drains() const { return places_[(next_ - 1) % segment_window].drains(); }
    /// Shows the started segment to all workers.
    void publish() { published_.store(++next_, std::memory_order_release); }

    // By any worker.
    /// Segments so far. The acquire pairs with publish(): their state is visible.
    std::uint64_t published() const { return published_.load(std::memory_order_acquire); }
    /// One that is in flight; it is whatever took its place if it is not.
    RunningSegment& at(std::uint64_t number) { return places_[number % segment_window]; }
    /// All places, running or idle.
    std::array<RunningSegment, segment_window>& places() { return places_; }
    const std::array<RunningSegment, segment_window>& places() const { return places_; }

  private:
    std::array<RunningSegment, segment_window> places_;
    std::uint64_t next_ = 0;
    std::atomic<std::uint64_t> published_{0};
};

}  // namespace trefoil
