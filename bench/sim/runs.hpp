// SPDX-License-Identifier: BSD-3-Clause
// The runs of one `trefoil sim`: every algorithm on every torus at every size.
#pragma once

#include <string>
#include <vector>

#include "algorithms/simulation/network.hpp"
#include "bench/sim/options.hpp"
#include "comm/plan/choices.hpp"

namespace trefoil::tool {

struct SimRun {
    std::string algorithm;  ///< with its modifiers
    std::string torus;
    Rank ranks = 0;
    std::size_t bytes = 0;
    double seconds = 0;
    /// Of the bound of throughput of the network; 0: none is known.
    double of_bound = 0;
};

struct SimResult {
    std::vector<SimRun> runs;           ///< by torus, algorithm, size
    std::vector<std::string> left_out;  ///< what does not run on a torus, and why
};

/// The algorithms that are asked for, with the root; "all" are all of the collective. Throws Error
/// for names that do not exist.
std::vector<Choice> sim_choices(const SimOptions& options);

/// Empty, or why the choice cannot be simulated on this torus.
std::string simulation_refusal(const Choice& choice, const Torus& torus);

/// What the machine's closing barrier adds, in seconds.
double closing_time(const Machine& machine, const Network& network);

/// Throws Error for what cannot be simulated at all, also when no algorithm runs on any torus.
SimResult simulate(const SimOptions& options);

}  // namespace trefoil::tool
