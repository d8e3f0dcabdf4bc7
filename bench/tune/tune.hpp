// SPDX-License-Identifier: BSD-3-Clause
// `trefoil tune`: its options, and its place among the commands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/common/command.hpp"
#include "bench/perf/common.hpp"
#include "topo/torus.hpp"

namespace trefoil::tool {

/// The command line as typed.
struct TuneOptions : CommonOptions {
    TuneOptions() { step_factor = 4; }
    std::string torus, net, collectives;
    Rank ranks = 0, per_node = 0;
    std::string output = "trefoil-tuning.json";
    int rounds = 7;       ///< of each algorithm and size
    double slice_ms = 5;  ///< of one round
    int bisections = 2;   ///< of a crossover
    bool ports_only = false;
    int regret = 0;          ///< calls to draw; 0: tune
    std::uint64_t seed = 1;  ///< of the draw
};

void add_tune(CLI::App& app, const Invocation& invocation, CommandBody& body);

}  // namespace trefoil::tool
