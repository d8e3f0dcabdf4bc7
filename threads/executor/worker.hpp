// SPDX-License-Identifier: BSD-3-Clause
// One worker of an executor: the loop that moves a call on, and how it waits.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "threads/executor/arrivals.hpp"
#include "threads/executor/executor_parts.hpp"
#include "threads/executor/peer_watch.hpp"
#include "threads/executor/poster.hpp"
#include "threads/executor/running_call.hpp"
#include "threads/executor/timeline_notes.hpp"
#include "threads/workers/waiting.hpp"

namespace trefoil {

/// Owns a port group while a call runs: posts its puts, polls it, and completes the steps whose
/// last token it spends. Worker 0 also starts segments and watches the peers. Used by one thread at
/// a time.
class alignas(64) Worker {
  public:
    /// Drives group `number`. `in_caller`: in the thread that called Executor::run().
    Worker(int number, bool in_caller, ExecutorParts& parts);

    /// Makes room for `program`, between calls.
    void reserve(const Program& program);
    /// Returns when the call is done, or has failed.
    void run(RunningCall& call, PeerWatch& watch) noexcept;
    /// Takes what has come at its group, in a call; false: nothing by which the call goes on.
    bool poll() noexcept;
    /// The same between calls: messages are early, and of completions only those of control
    /// messages matter.
    bool listen() noexcept;

  private:
    void work(RunningCall& call, PeerWatch& watch) noexcept;
    /// Does once all that can be done now; false: nothing could.
    bool advance(RunningCall& call) noexcept;
    bool start_segments(RunningCall& call) noexcept;
    bool adopt_segments() noexcept;
    void transport_failed(std::uint64_t cookie) noexcept;
    bool idle(PeerWatch& watch);
    bool wait(PeerWatch& watch);

    const std::size_t number_;
    const bool in_caller_;
    ExecutorParts& parts_;
    PortGroup* const group_;
    TimelineNotes notes_;
    Poster poster_;
    Arrivals arrivals_;
    Waiting waiting_;
    std::uint64_t adopted_ = 0;       ///< segments, running number
    std::uint32_t changes_seen_ = 0;  ///< WakeUp::changes() before it last looked for work
    std::uint32_t vain_polls_ = 0;    ///< of all calls, for the caller's progress
    bool is_idle_ = false;
    std::chrono::steady_clock::time_point idle_since_{};
    std::chrono::steady_clock::time_point next_check_{};
    std::array<Event, 64> events_;
};

}  // namespace trefoil
