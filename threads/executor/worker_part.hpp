// SPDX-License-Identifier: BSD-3-Clause
// One worker's part in the calls of one executor.
#pragma once

#include <cstdint>

#include "threads/executor/arrivals.hpp"
#include "threads/executor/executor_parts.hpp"
#include "threads/executor/peer_watch.hpp"
#include "threads/executor/poster.hpp"
#include "threads/executor/timeline_notes.hpp"

namespace trefoil {

/// What concerns one group: posts its puts, takes its messages, and completes the steps whose last
/// token it spends. That of worker 0 also starts segments. Used by the group's owner.
class alignas(64) WorkerPart {
  public:
    WorkerPart(std::size_t worker, ExecutorParts& parts);

    /// Does once all that can be done now; false: nothing could.
    bool advance() noexcept;
    /// It has failed: nothing new is to begin.
    bool failed() const noexcept { return parts_.failure.happened(); }

    /// A notification has come at the group. True: a call may go on by it.
    bool arrive(std::uint64_t notification) noexcept { return arrivals_.arrive(notification); }
    /// The same between calls: a message is early.
    void keep(std::uint64_t notification) noexcept { arrivals_.keep(notification); }
    /// A put has left. True: a call may go on by it.
    bool sent(std::uint64_t cookie) noexcept;
    void sent_between_calls(std::uint64_t cookie) noexcept;
    void transport_failed(std::uint64_t cookie) noexcept;

    /// The group did not accept a put.
    bool refused() const { return poster_.refused(); }
    /// Reports of failure that came are passed on, whatever this rank's calls still do.
    void pass_failure_on() noexcept;
    TimelineNotes& notes() { return notes_; }
    // Where notes are on: what the worker does from begin_work() to end_work() is shown as one
    // call; as "calls in flight" if it were several.
    void begin_work() noexcept {
        begun_ = notes_.clock();
        completed_before_ = parts_.in_flight.completed();
    }
    void end_work() noexcept;

  private:
    bool start_segments() noexcept;
    bool start_next(RunningCall& call) noexcept;
    bool adopt_segments() noexcept;

    const std::size_t number_;
    ExecutorParts& parts_;
    PortGroup* const group_;
    TimelineNotes notes_;
    Poster poster_;
    Arrivals arrivals_;
    std::uint64_t adopted_ = 0;  ///< segments, running number
    std::int64_t begun_ = 0;
    std::uint64_t completed_before_ = 0;
};

}  // namespace trefoil
