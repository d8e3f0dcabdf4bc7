// SPDX-License-Identifier: BSD-3-Clause
// Why the executor does not go on: one status and one text.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "threads/executor/wake_up.hpp"
#include "topo/error.hpp"

namespace trefoil {

/// The first cause wins, and stands for ever. Thread-safe.
class Failure {
  public:
    explicit Failure(WakeUp& wake_up) : wake_up_(wake_up) {}

    /// Keeps the cause if it is the first, and wakes the workers. Without memory for the text, the
    /// status alone.
    void set(Status status, const std::string& text) noexcept;

    /// For the data path: something has failed, nothing new is to begin.
    bool happened() const noexcept { return status_.load(std::memory_order_relaxed) != 0; }
    Status status() const noexcept {
        return static_cast<Status>(status_.load(std::memory_order_acquire));
    }
    std::string text() const;

  private:
    WakeUp& wake_up_;
    std::atomic<int> status_{0};  ///< a Status; its release pairs with status()
    mutable std::mutex mutex_;    ///< guards the text, and who is first
    std::string text_;
};

}  // namespace trefoil
