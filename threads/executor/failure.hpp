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
    explicit Failure(WakeUp& wake_up) : wake_up_(wake_up) {}

    /// Keeps the cause if it is the first, and wakes the workers. Without memory for the text, the
    /// status alone.
    void set(const Cause& cause) noexcept;
    void set(Status status, const std::string& text) noexcept;
    /// A cause that is tentative: something is wrong with `accused`, but perhaps because of another
    /// rank. `what` says what, without the rank's name.
    void suspect(Status status, Rank accused, const std::string& what) noexcept;
    /// `peer` makes another call than rank `own`, which makes `call`. `does`: how that was seen.
    void disagree(Rank peer, Rank own, const Call& call,
                  const char* does = "makes another call than") noexcept;
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
    std::atomic<int> status_{0};  ///< a Status; its release pairs with status()
    mutable std::mutex mutex_;    ///< guards the cause, and who is first
    Cause cause_;
};

}  // namespace trefoil
