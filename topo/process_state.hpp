// SPDX-License-Identifier: BSD-3-Clause
// What can be seen of a process of this host: that it lives, that it has ended, or nothing.
#pragma once

#include <cstdint>

namespace trefoil {

/// Not to see a process is not to know: only what proves its end counts as its end.
struct ProcessState {
    enum class Life : std::uint8_t { unknown, runs, stopped, ended };
    Life life = Life::unknown;
    std::uint64_t started = 0;  ///< in the kernel's ticks: tells processes apart that had the same
                                ///< number; 0: not known

    bool known() const { return life != Life::unknown; }
    bool ended() const { return life == Life::ended; }
    bool stopped() const { return life == Life::stopped; }
};

/// Of process `pid` of this process's own process namespace. With `started` not 0, a process that
/// began at another time has only its number: the one that is asked for has ended. Does not
/// allocate. Thread-safe.
ProcessState process_state(int pid, std::uint64_t started = 0) noexcept;

/// A thread of process `pid` that has not ended, where one is seen, or else `pid`. The main thread
/// may end before the others; then the kernel leads to the files and the memory of the process by
/// the number of such a thread alone. Does not allocate. Thread-safe.
int living_thread(int pid) noexcept;

}  // namespace trefoil
