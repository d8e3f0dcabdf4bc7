// SPDX-License-Identifier: BSD-3-Clause
// The reports that have come from peers.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "threads/executor/reports.hpp"

namespace trefoil {

/// Thread-safe. Nothing here is of the data path: reports come when something is wrong.
class PeerReports {
  public:
    using Clock = std::chrono::steady_clock;
    struct Failure {
        Rank from = Cause::nobody;
        Cause cause;
    };
    struct Stall {
        StallReport report;
        Clock::time_point at;
    };

    /// What there is no memory for is ignored.
    void take(Rank peer, StallReport report) noexcept;
    void take(Rank peer, const Cause& cause) noexcept;

    /// For whoever polls often.
    bool failure_has_come() const noexcept {
        return failure_has_come_.load(std::memory_order_relaxed);
    }
    /// The first that has come; of several aborts the one that precedes().
    std::optional<Failure> failure() const;
    /// The peer's last.
    std::optional<Stall> stall_of(Rank peer) const;
    /// All that have reported a stall, be it in calls of long ago.
    std::vector<Rank> stalled() const;
    /// How many stall reports have come.
    std::uint32_t stalls_taken() const noexcept { return stalls_.load(std::memory_order_relaxed); }

  private:
    std::atomic<bool> failure_has_come_{false};  ///< orders nothing: failure() takes the lock
    std::atomic<std::uint32_t> stalls_{0};
    mutable std::mutex mutex_;  ///< guards what follows
    std::optional<Failure> first_;
    std::map<Rank, Stall> last_stalls_;
};

}  // namespace trefoil
