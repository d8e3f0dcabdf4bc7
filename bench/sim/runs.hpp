// SPDX-License-Identifier: BSD-3-Clause
// The runs of one `trefoil sim`: every algorithm on every torus at every size.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/sim/machine.hpp"
#include "comm/plan/choices.hpp"

namespace trefoil::tool {

struct SimOptions {
    Collective collective = Collective::allreduce;
    std::vector<std::string> algorithms;  ///< names with modifiers, or "all"
    std::vector<std::string> tori;
    std::vector<std::size_t> sizes;  ///< bytes of the vector, ascending
    Machine machine;
    std::vector<std::string> down;  ///< links, "+0@5"
    Rank root = 0;
    bool flow = true;  ///< else the step model
    bool step_sync = false;
    std::size_t most_bytes = std::size_t{2} << 30;  ///< of memory for the table of messages
    bool progress = false;                          ///< on stderr
};

struct SimRun {
    std::string algorithm;  ///< with its modifiers
    std::string torus;
    Rank ranks = 0;
    std::size_t bytes = 0;
    double seconds = 0;
};

struct SimResult {
    std::vector<SimRun> runs;           ///< by torus, algorithm, size
    std::vector<std::string> left_out;  ///< what does not run on a torus, and why
};

/// Throws Error for what cannot be simulated at all.
SimResult simulate(const SimOptions& options);

}  // namespace trefoil::tool
