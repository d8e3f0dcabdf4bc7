// SPDX-License-Identifier: BSD-3-Clause
// The waiting policy: how a thread that polls in vain behaves, so that a wait never starves the
// thread that it waits for.
#pragma once

#include <chrono>
#include <cstdint>

namespace trefoil {

/// Tells the processor that this thread spins, so that its sibling gets the execution units.
inline void pause_processor() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// What the caller wants done, in its own thread, while a call waits: its own network may stand
/// still until somebody polls it.
struct Progress {
    void (*call)(void* context) = nullptr;
    void* context = nullptr;

    explicit operator bool() const { return call != nullptr; }
    void operator()() const { call(context); }
};
/// The longest sleep of a thread that has such work: peers may wait for what it would do.
inline constexpr std::chrono::microseconds longest_sleep_with_progress{200};

/// When a thread that polls in vain turns to the caller's progress, which costs about as much as
/// eight polls of its own, and where ranks share cores keeps the others from their work. Not
/// thread-safe.
class ProgressTurns {
  public:
    explicit ProgressTurns(bool may_spin) : may_spin_(may_spin) {}

    /// After a vain poll; `sleeps`: the thread is going to sleep.
    bool due(bool sleeps) {
        if (!sleeps && ++vain_polls_ % polls_per_turn != 0) {
            return false;
        }
        if (may_spin_) {
            return true;
        }
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < gap_where_cores_are_shared) {
            return false;
        }
        last_ = now;
        return true;
    }

  private:
    static constexpr std::uint32_t polls_per_turn = 8;
    // 9 ranks on 2 cores over TCP, under Open MPI: 8 bytes took 70 us without a gap, 63 with 200
    // us, 61 with 500, and 57 where MPI had no turn at all. What MPI has to do meanwhile, such as
    // to answer a long message, waits so long.
    static constexpr std::chrono::microseconds gap_where_cores_are_shared{200};

    bool may_spin_;
    std::uint32_t vain_polls_ = 0;
    std::chrono::steady_clock::time_point last_{};
};

/// One per waiting thread. Spins while there is a core for every thread; otherwise yields for
/// twenty empty polls, or a hundred where all messages go by memory, then asks for sleeps of 50 us
/// that grow to 200 ms while nothing happens. An arrival ends a sleep, so long ones cost nothing
/// but the wake-up; where it cannot, the delay stays within a tenth of the time waited so far.
/// Where there is a core for every thread and the caller has work of its own, it yields for some
/// 50 ms before it sleeps: what that work answers comes to no endpoint of Trefoil's, and would end
/// no sleep. It never yields for longer: other programs may want the core after all. Not
/// thread-safe.
class Waiting {
  public:
    /// `may_spin`: every thread of the job on this machine has a core of its own. `by_memory`: all
    /// messages are copies of the ranks' own, and no kernel handles them.
    explicit Waiting(bool may_spin, bool by_memory = false)
        : may_spin_(may_spin), by_memory_(by_memory) {}

    /// Something happened: start again at the eager end.
    void reset() { empty_polls_ = 0; }

    /// Called after an empty poll. True: it has paused, and the next poll is to follow at once.
    /// False: ask idle().
    bool spin() {
        if (!may_spin_ || empty_polls_ >= spins_before_yield) {
            return false;
        }
        ++empty_polls_;
        pause_processor();
        return true;
    }

    /// It has a core of its own, and no longer only pauses: work of the caller's costs it nothing.
    bool yields() const { return may_spin_ && empty_polls_ > spins_before_yield; }

    /// Called after an empty poll. Pauses or yields by itself and returns zero, or returns how long
    /// the caller should sleep in its endpoint's wait().
    /// `serves`: the caller has work of its own.
    std::chrono::microseconds idle(bool serves = false);

  private:
    // Tens of microseconds: longer than a message takes, and short beside what the wait costs when
    // the thread waited for is on this very core after all (another program may have the others).
    static constexpr std::uint32_t spins_before_yield = 500;

    bool may_spin_;
    bool by_memory_;
    std::uint32_t empty_polls_ = 0;
    std::chrono::steady_clock::time_point yields_since_{};
};

}  // namespace trefoil
