// SPDX-License-Identifier: BSD-3-Clause
// Why the executor does not go on.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "threads/executor/call.hpp"
#include "threads/executor/cause.hpp"
#include "threads/executor/wake_up.hpp"

namespace trefoil {

/// The first cause wins, and stands for ever. Thread-safe.
class Failure {
  public:
    /// `own`: this rank.
    Failure(WakeUp& wake_up, Rank own) : wake_up_(wake_up), own_(own) {}

    /// Keeps the cause if it is the first, and wakes the workers. Without memory for the text, the
    /// rest of it. A cause without a finder was found by this rank, now.
    void set(const Cause& cause) noexcept;
    void set(Status status, const std::string& text, const Blame& blame = {}) noexcept;
    /// The fault is this rank's own.
    void set_own(Status status, const std::string& text = {}) noexcept;
    /// A cause that is tentative: something is wrong with `accused`, but perhaps because of another
    /// rank. `what` says what, without the rank's name.
    void suspect(Status status, Rank accused, const std::string& what) noexcept;
    /// `peer` makes another call than this rank, which makes `call`. `what`: in words.
    void disagree(Rank peer, const Call& call, const char* what = "make different calls") noexcept;
    /// In the place of a tentative one. By one thread, while no worker runs.
    void replace(const Cause& cause) noexcept;

    /// For the data path: something has failed, nothing new is to begin.
    bool happened() const noexcept { return status_.load(std::memory_order_relaxed) != 0; }
    Status status() const noexcept {
        return static_cast<Status>(status_.load(std::memory_order_acquire));
    }
    /// With what was added for this rank's user.
    std::string text() const;
    /// Throws bad_alloc.
    Cause cause() const;

  private:
    void keep(const Cause& cause) noexcept;

    WakeUp& wake_up_;
    Rank own_;
    std::atomic<int> status_{0};  ///< a Status; its release pairs with status()
    mutable std::mutex mutex_;    ///< guards the cause, and who is first
    Cause cause_;
};

}  // namespace trefoil
