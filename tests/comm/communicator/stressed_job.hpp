// SPDX-License-Identifier: BSD-3-Clause
// One job of random calls in flight, on a torus and parts of it, over one transport.
#pragma once

#include <cstdint>
#include <string>

#include "tests/backend/registry/transports_to_test.hpp"

namespace trefoil::test {

struct StressedJob {
    TransportToTest transport;
    std::string shape;
    std::size_t calls = 300;  ///< that each rank begins
    unsigned seed = 1;
    bool threads = false;   ///< ranks are threads of this process, else processes
    int port_threads = -1;  ///< of each rank; -1: as the library likes
    double seconds = 60;    ///< how long it may take
};

struct StressedJobResult {
    std::uint64_t calls = 0;  ///< of all ranks, that have ended and were right
    std::uint64_t wrong = 0;  ///< ranks that found something wrong, failed or did not end
    std::string what;         ///< of the first such rank
    double seconds = 0;
};

/// Prints how far it is every few seconds.
StressedJobResult run_stressed(const StressedJob& job);

}  // namespace trefoil::test
