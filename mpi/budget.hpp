// SPDX-License-Identifier: BSD-3-Clause
// What a process may spend on setting up communicators before anybody knows what they gain.
#pragma once

#include <atomic>
#include <chrono>

namespace trefoil::mpi {

/// A small part of the program's time, so that no program is noticeably slower. Thread-safe, but
/// for begin().
class Budget {
  public:
    using Clock = std::chrono::steady_clock;
    /// With MPI.
    void begin(Clock::time_point now) { begin_ = now; }
    /// On one set-up.
    void spend(Clock::duration took) {
        spent_.fetch_add(took.count(), std::memory_order_relaxed);
        price_.store(took.count(), std::memory_order_relaxed);
    }
    /// Another set-up that takes as long as the last one keeps within the budget.
    bool affords_another(Clock::time_point now) const {
        const Clock::duration with_another(spent_.load(std::memory_order_relaxed) +
                                           price_.load(std::memory_order_relaxed));
        return with_another * part <= now - begin_;
    }

    static constexpr int part = 50;
    static constexpr Clock::duration first_price = std::chrono::milliseconds(4);  ///< assumed

  private:
    Clock::time_point begin_;
    std::atomic<Clock::rep> spent_{0}, price_{first_price.count()};
};

}  // namespace trefoil::mpi
