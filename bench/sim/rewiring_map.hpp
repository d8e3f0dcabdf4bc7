// SPDX-License-Identifier: BSD-3-Clause
// Gain over the time of a change and of a hop, a panel per algorithm, torus and size.
#pragma once

#include <string>
#include <vector>

#include "bench/sim/rewiring_runs.hpp"

namespace trefoil::tool {

/// As typed.
struct RewiringMapCommandLine {
    std::string files;  ///< a list; empty: no map
    std::string gain = "static", fallback = "all";
    bool single_port = false;
};

/// Throws Error(invalid_argument) for what cannot be drawn, before any work.
void check_map_options(const RewiringMapCommandLine& given);

/// Writes the files, and with --json the map as one JSON object on stdout. Rows are `hops`, columns
/// the times of a change.
void draw_map(const RewiringQuestion& question, const std::vector<RewiringField>& fields,
              const RewiringMapCommandLine& given, const std::vector<double>& hops);

}  // namespace trefoil::tool
