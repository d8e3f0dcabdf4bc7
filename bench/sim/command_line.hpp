// SPDX-License-Identifier: BSD-3-Clause
// The command line of `trefoil sim`: a group of options is a struct of what was typed, a function
// that adds the options, and one that reads them. A part of the command with options of its own has
// these in files of its own.
#pragma once

#include <CLI/CLI.hpp>

#include "bench/sim/options.hpp"
#include "bench/sim/rewiring_map.hpp"
#include "bench/sim/rewiring_options.hpp"

namespace trefoil::tool {

/// As typed; empty: not given.
struct SimCommandLine {
    std::string collective, algorithms, schedule, tori, sizes = "32,1K,32K,1M,32M";
    Rank root = 0, per_node = 0;
    std::string machine = "trivance", network, rate, alpha, hop, copy, reduce, down, slow,
                host_rate, host_latency, memory = "2G";
    int links_per_pair = 0, host = -1;
    std::string model = "flow", engine = "own", closing_barrier, jitter, gap;
    int per_port = 0;
    std::uint64_t seed = 1;
    bool step_sync = false, sends_complete = false;
    std::string baseline, plot, html;
    bool json = false, table = false;
    CircuitsCommandLine circuits;  ///< bench/sim/rewiring.hpp reads them
    RewiringMapCommandLine map;
};

/// Adds all options to `command`; they write into `given`, which outlives the parsing.
void add_sim_options(CLI::App& command, SimCommandLine& given);

/// Throws Error(invalid_argument or not_found) that says what is wrong.
SimOptions read_sim_options(const SimCommandLine& given);

}  // namespace trefoil::tool
