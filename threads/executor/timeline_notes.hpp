// SPDX-License-Identifier: BSD-3-Clause
// What one worker notes in the timeline.
#pragma once

#include "threads/executor/channels.hpp"
#include "threads/executor/program.hpp"
#include "threads/timeline/trace.hpp"

namespace trefoil {

/// Without a ring nothing is noted and no clock is read: a test of one pointer is all that is left
/// on the data path. All but on(), clock() and ring() are called only where on() is true.
class TimelineNotes {
  public:
    /// `of`: what tells its segments from those of other executors, alike on all ranks.
    explicit TimelineNotes(TraceRing* ring, std::uint32_t of = 0) : ring_(ring), of_(of) {}

    bool on() const { return ring_ != nullptr; }
    /// The time; 0 without a timeline.
    std::int64_t clock() const { return ring_ == nullptr ? 0 : trace_clock(); }
    /// Null without a timeline.
    TraceRing* ring() { return ring_; }

    void call(const char* text, std::int64_t begin) noexcept;
    /// A wait goes on, from `begin` to now: many polls in vain are one wait.
    void waits(std::int64_t begin) noexcept;
    /// The wait, if there was one, is over.
    void goes_on() noexcept;
    // Of the segment of this number; `begin`: when it, or its step, or the put began.
    void segment(std::uint64_t segment, std::int64_t begin) noexcept;
    void step(std::uint64_t segment, const ProgramStep& step, std::int64_t begin) noexcept;
    void put(std::uint64_t segment, const ProgramStep& step, const ProgramPut& put,
             const OutChannel& channel, std::int64_t begin) noexcept;
    /// The segment may be complete by now, and another one in its place.
    void arrival(std::uint64_t segment, const ProgramStep& step, std::uint32_t message,
                 const InChannel& channel, std::int64_t begin) noexcept;

  private:
    TraceRing* ring_;
    std::uint32_t of_;
    std::int64_t wait_begin_ = 0, wait_end_ = 0;  ///< 0: none
};

}  // namespace trefoil
