// SPDX-License-Identifier: BSD-3-Clause
// The waiting policy. Measured on 2 cores with 9-16 ranks: pure spinning takes tens of milliseconds
// for 8 bytes, yielding 0.1-0.3 ms; naps under 20 us are worse than either.
#include "threads/workers/waiting.hpp"

#include <sched.h>

namespace trefoil {

namespace {
// All ranks of a core yield to each other, and whoever worked last, or had packets of others
// handled on its time, is the last to get the core again. The sooner the others nap, the sooner it
// does: 8 bytes on 16 ranks by TCP take 0.3 ms instead of 0.7 with 100.
constexpr std::uint32_t yields_before_nap = 20;
// Memory has no packets of others: with 20, calls of 8 bytes to 4 KiB took 1.04 times as long on 4
// ranks and 1.11 times on 9 (geometric means over collectives), with 400 1.09 and 1.13 times. But
// each yield may give another program the core for some milliseconds, which a nap does not.
constexpr std::uint32_t yields_before_nap_by_memory = 100;
// A yield where nobody else wants the core is little more than a poll, and saves the wake-up.
constexpr std::uint32_t yields_before_nap_with_cores = 2000, yields_while_serving = 100'000;
// Where other programs want the core, a yield gives them a time slice each, and yields by number
// would go on for minutes, in which nobody looks for dead peers and time-outs.
constexpr std::chrono::milliseconds longest_yielding{50};
constexpr std::uint32_t yields_per_look = 16;
/// Sleeps of one length, and how many before the next length. The longest bounds how late a look
/// for dead peers and time-outs can be.
struct Stage {
    std::chrono::microseconds sleep;
    std::uint32_t count;
};
constexpr Stage stages[] = {{std::chrono::microseconds{50}, 100},
                            {std::chrono::milliseconds{1}, 50},
                            {std::chrono::milliseconds{10}, 20}};
constexpr std::chrono::microseconds longest_sleep = std::chrono::milliseconds{200};
}  // namespace

std::chrono::microseconds Waiting::idle(bool serves) {
    const std::uint32_t spins = may_spin_ ? spins_before_yield : 0;
    const std::uint32_t yields =
        spins + (may_spin_    ? (serves ? yields_while_serving : yields_before_nap_with_cores)
                 : by_memory_ ? yields_before_nap_by_memory
                              : yields_before_nap);
    const std::uint32_t n = empty_polls_;
    if (spin()) {
        return std::chrono::microseconds{0};
    }
    if (n < yields) {
        ++empty_polls_;
        if (may_spin_ && n % yields_per_look == 0) {
            const auto now = std::chrono::steady_clock::now();
            yields_since_ = n < spins + yields_per_look ? now : yields_since_;
            empty_polls_ = now - yields_since_ > longest_yielding ? yields : empty_polls_;
        }
        sched_yield();
        return std::chrono::microseconds{0};
    }
    std::uint32_t sleeps = n - yields;
    for (const Stage& stage : stages) {
        if (sleeps < stage.count) {
            ++empty_polls_;
            return stage.sleep;
        }
        sleeps -= stage.count;
    }
    return longest_sleep;
}

}  // namespace trefoil
