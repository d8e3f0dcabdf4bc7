// SPDX-License-Identifier: BSD-3-Clause
// Threads of the program that wait while others do the work.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

#include "threads/workers/waiting.hpp"

namespace trefoil {

/// Whoever changes what others may wait for announces it afterwards: a call is complete, or the
/// turn to drive is free. Changes and looks are sequentially consistent, so of a waiter and an
/// announcer at least one sees the other. Without waiters an announcement costs a load.
///
/// Thread-safe.
class Waiters {
  public:
    void announce() noexcept {
        if (waiting_.load(std::memory_order_seq_cst) != 0) {
            changes_.fetch_add(1, std::memory_order_seq_cst);
            changes_.notify_all();
        }
    }

    /// Returns when `over()`, whose loads must be sequentially consistent. Spins first, `spins`
    /// times. Meanwhile calls `progress`, if there is any, and then naps instead of sleeping.
    template <typename Over>
    void wait(Over&& over, int spins, Progress progress) {
        for (int i = 0; i < spins; ++i) {
            if (over()) {
                return;
            }
            pause_processor();
        }
        waiting_.fetch_add(1, std::memory_order_seq_cst);
        if (progress) {
            nap(over, spins > 0, progress);
        } else {
            for (std::uint32_t seen = changes_.load(std::memory_order_seq_cst); !over();
                 seen = changes_.load(std::memory_order_seq_cst)) {
                changes_.wait(seen, std::memory_order_seq_cst);
            }
        }
        waiting_.fetch_sub(1, std::memory_order_relaxed);
    }

  private:
    template <typename Over>
    static void nap(Over&& over, bool may_spin, Progress progress) {
        Waiting waiting(may_spin);
        while (!over()) {
            progress();
            const auto length = std::min(waiting.idle(true), longest_sleep_with_progress);
            if (length.count() > 0) {
                std::this_thread::sleep_for(length);
            }
        }
    }

    std::atomic<std::uint32_t> waiting_{0};
    std::atomic<std::uint32_t> changes_{0};
};

}  // namespace trefoil
