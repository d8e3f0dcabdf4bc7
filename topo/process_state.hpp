// SPDX-License-Identifier: BSD-3-Clause
// What the kernel tells of a process of this host.
#pragma once

#include <cstdint>

namespace trefoil {

struct ProcessState {
    char letter = '\0';         ///< as in /proc; 0: there is no such process
    std::uint64_t started = 0;  ///< when: tells processes apart that had the same number

    /// False: this process lacks what it takes to look (descriptors, memory).
    bool known() const { return letter != '?'; }
    bool ended() const { return letter == '\0' || letter == 'Z' || letter == 'X'; }
    bool stopped() const { return letter == 'T' || letter == 't'; }
};

/// Of process `pid` of this process's own process namespace. Does not allocate. Thread-safe.
ProcessState process_state(int pid) noexcept;

}  // namespace trefoil
