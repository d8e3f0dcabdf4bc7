// SPDX-License-Identifier: BSD-3-Clause
// Why a call does not go on: what peers have said, dead processes, time-outs.
#pragma once

#include <chrono>
#include <functional>

#include "threads/executor/channels.hpp"
#include "threads/executor/control_messages.hpp"
#include "threads/executor/executor_options.hpp"
#include "threads/executor/failure.hpp"
#include "threads/executor/greeting.hpp"
#include "threads/executor/missing_pieces.hpp"
#include "threads/executor/running_call.hpp"

namespace trefoil {

/// Decides when a wait is in vain, and fails then. Used by worker 0, and by nobody while there is
/// progress.
class PeerWatch {
  public:
    using Duration = std::chrono::steady_clock::duration;

    /// `greeting` counts the set-ups. `poll` takes what has come at group 0.
    PeerWatch(const Channels& channels, const SegmentQueue& queue, const Greeting& greeting,
              ControlMessages& controls, Failure& failure, const ExecutorOptions& options,
              std::function<void()> poll)
        : channels_(channels),
          missing_(channels, queue),
          greeting_(greeting),
          controls_(controls),
          failure_(failure),
          options_(options),
          poll_(std::move(poll)) {}

    void begin_call(const RunningCall& call);
    /// Nothing happens from now on.
    void begin_wait();
    /// Nothing has happened for so long. False: the call has failed.
    bool look(Duration idle_for);

  private:
    bool fail_with_a_peer();
    bool fail_with_peer_of(std::size_t in_channel);
    void fail_for_disagreement(const std::string& who_does_what);
    void report_stall() noexcept;

    const Channels& channels_;
    MissingPieces missing_;
    const Greeting& greeting_;
    ControlMessages& controls_;
    Failure& failure_;
    const ExecutorOptions& options_;
    std::function<void()> poll_;
    const RunningCall* call_ = nullptr;
    Duration next_look_{};  ///< at the peers' processes, after so much idle time
    bool warned_ = false;
    bool reported_ = false;
};

}  // namespace trefoil
