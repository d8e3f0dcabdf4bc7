// SPDX-License-Identifier: BSD-3-Clause
// How hard the emulation of uTofu makes life, by environment variables that begin with
// EMULATED_TOFU_; all are read once per process.
//
//   DIRECTORY       where processes meet; default: one per user in /dev/shm
//   SEED            of all that is random; else drawn. Printed where HOSTILE is not 0
//   HOSTILE         0: nothing is delayed on purpose; 1 (default); 2: all the time
//   INTERFACES      network interfaces (TNIs) of a node (6)
//   VCQS            virtual control queues of a process and interface (7)
//   PUTS            places of a queue of puts (8); the next one meets BUSY
//   NOTICES         places of a queue of notices (2048); one more aborts
//   BUSY            percent of calls that meet BUSY for nothing (10; 0 if HOSTILE is 0)
//   UNREQUESTED     percent of puts that make a remote notice unasked (0)
//   LONGEST_PUT     bytes (16777215)
//   PIGGYBACK       bytes of the longest put that travels in its descriptor (32)
//   EDATA           "refuse" (default) or "truncate" values above 255
//   UNORDERED       1: strong order is not kept, which no backend must survive
//   STRICT_THREADS  1: a queue of the hardware never changes its thread
//   REGISTRATIONS   that a process may have (a million); one more is refused
//   LATENCY         factor of 1 us + 0.08 us per hop + bytes / 6.3 GB/s (0: off)
//   SHAPE           "X.Y.Z.A.B.C" of the machine (64.1.1.1.1.1)
//   NODE            which node this process runs on; else TREFOIL_RANK, else in order
//   LEAKS           1: what was never given back is told at exit
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
    std::size_t longest_put = 16777215, piggyback = 32, registrations = 1000000;
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
