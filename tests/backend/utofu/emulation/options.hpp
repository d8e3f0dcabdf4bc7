// SPDX-License-Identifier: BSD-3-Clause
// How hard the emulation of uTofu makes life, by environment variables; all are read once per
// process.
//
//   EMULATED_TOFU_DIRECTORY      where processes meet; default: one per user in /dev/shm
//   EMULATED_TOFU_SEED           of all that is random; else drawn. Printed where HOSTILE is not 0
//   EMULATED_TOFU_HOSTILE        0: nothing is delayed on purpose; 1 (default); 2: all the time
//   EMULATED_TOFU_INTERFACES     network interfaces (TNIs) of a node (6)
//   EMULATED_TOFU_VCQS           virtual control queues of a process and interface (7)
//   EMULATED_TOFU_PUTS           places of a queue of puts (8); the next one meets BUSY
//   EMULATED_TOFU_NOTICES        places of a queue of notices (2048); one more aborts
//   EMULATED_TOFU_BUSY           percent of calls that meet BUSY for nothing (10, or 0 if
//   HOSTILE=0) EMULATED_TOFU_UNREQUESTED    percent of puts that make a remote notice unasked (0)
//   EMULATED_TOFU_LONGEST_PUT    bytes (16777215)
//   EMULATED_TOFU_EDATA          "refuse" (default) or "truncate" values above 255
//   EMULATED_TOFU_UNORDERED      1: strong order is not kept: what a backend must never survive
//   EMULATED_TOFU_STRICT_THREADS 1: a queue of the hardware never changes its thread
//   EMULATED_TOFU_REGISTRATIONS  that a process may have (a million); one more is refused
//   EMULATED_TOFU_LATENCY        factor of 1 us + 0.08 us per hop + bytes / 6.3 GB/s; 0 (default):
//   off EMULATED_TOFU_SHAPE          "X.Y.Z.A.B.C" of the machine (64.1.1.1.1.1) EMULATED_TOFU_NODE
//   which node this process runs on; else TREFOIL_RANK, else in order EMULATED_TOFU_LEAKS 1: what
//   was never given back is told at exit
//
// Who misuses uTofu is told on stderr, and the process aborts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace emulated_tofu {

struct Options {
    std::string directory;
    std::uint64_t seed = 0;
    int hostile = 1;
    std::size_t interfaces = 6, vcqs = 7, puts = 8, notices = 2048;
    unsigned busy = 10, unrequested = 0;
    std::size_t longest_put = 16777215, registrations = 1000000;
    bool truncate_edata = false, unordered = false, strict_threads = false, leaks = false;
    double latency = 0;
    std::array<unsigned, 6> shape{64, 1, 1, 1, 1, 1};
    int node = -1;  ///< -1: in order
};

/// Of this process. Aborts on a value that is none.
Options read_options();

/// Says what is wrong, and aborts.
[[noreturn]] void misuse(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace emulated_tofu
