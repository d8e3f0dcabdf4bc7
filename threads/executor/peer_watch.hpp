// SPDX-License-Identifier: BSD-3-Clause
// Why a call does not go on: what peers have said, processes that ended, time-outs.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "threads/executor/call_queue.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/control_messages.hpp"
#include "threads/executor/executor_options.hpp"
#include "threads/executor/failure.hpp"
#include "threads/executor/missing_list.hpp"
#include "threads/executor/running_call.hpp"
#include "threads/executor/steps.hpp"
#include "threads/executor/suspects.hpp"

namespace trefoil {

/// Looks after a call that does not go on, and ends it when waiting is in vain. By worker 0, but
/// for report().
class PeerWatch {
  public:
    using Duration = std::chrono::steady_clock::duration;

    PeerWatch(const Channels& channels, CallQueue& calls, SegmentQueue& queue,
              const StoredCalls& stored, Steps& steps, ControlMessages& controls, Failure& failure,
              const ExecutorOptions& options)
        : channels_(channels),
          calls_(calls),
          queue_(queue),
          stored_(stored),
          steps_(steps),
          missing_(channels, queue, stored),
          controls_(controls),
          failure_(failure),
          options_(options),
          reported_(channels.groups.size()) {}

    /// Nothing happens from now on.
    void begin_wait();
    /// Nothing has happened for so long. False: the calls in flight have failed. What is said is
    /// about the oldest.
    bool look(Duration idle_for);
    /// How long nothing has happened, when it last looked; negative: it has not.
    std::chrono::milliseconds idle() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(idle_);
    }
    /// Tells the peers of a group that this rank is stalled, if there is news since the last time.
    /// By the group's owner.
    void report(std::size_t group) noexcept;

  private:
    bool look_at(const RunningCall& call, Duration idle_for);
    std::optional<Cause> bad_news() const;
    std::optional<Cause> bad_news_of_peer(Rank peer, bool is_missing) const;
    Cause as_told(const PeerReports::Failure& told) const;
    Cause disagreement(Rank peer, const std::string& in) const;
    bool fail_with_a_process(Duration idle_for);
    void fail_in_time(Duration idle_for);
    std::string waiting(Duration idle_for) const;
    Suspect suspect(Duration idle_for) const;
    void note_stall(Duration idle_for);

    const Channels& channels_;
    CallQueue& calls_;
    SegmentQueue& queue_;
    const StoredCalls& stored_;
    Steps& steps_;
    MissingList missing_;
    ControlMessages& controls_;
    Failure& failure_;
    const ExecutorOptions& options_;
    TimelineNotes notes_{nullptr};
    Duration idle_{-1};
    const RunningCall* call_ = nullptr;  ///< while it is looked at
    std::uint64_t warned_of_ = 0;        ///< the number of a call
    Duration bad_news_at_{};             ///< after so much idle time
    Duration next_look_{};               ///< at the processes, after so much idle time
    Duration next_report_{};             ///< even without news
    std::vector<ProcessNews> processes_;
    Suspect suspect_;
    std::mutex mutex_;  ///< guards the report, which the owners of other groups send, too
    StallReport report_;
    /// Made in all calls; 0: there is none. Changes under the lock; without news nobody takes it.
    std::atomic<std::uint32_t> reports_{0};
    std::vector<std::uint32_t> reported_;  ///< by group: the last that was sent; by its owner
};

}  // namespace trefoil
