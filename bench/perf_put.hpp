// SPDX-License-Identifier: BSD-3-Clause
// `trefoil perf put`: its options, and its place among the commands.
#pragma once

#include <string>

#include "bench/command.hpp"

namespace trefoil::tool {

/// The command line as typed; sizes as `perf` takes them for collectives.
struct PutOptions {
    std::string min_bytes = "8", max_bytes, sizes;
    int step_factor = 8;
    int iterations = 0;  ///< round trips, and puts of a stream; 0: by size
    int warmup = -1;     ///< -1: a tenth of the iterations
    int repetitions = 5;
    int window = 0;  ///< puts under way; 0: by size
    bool check = false;
    std::string backend, provider, nics;
    std::string launch = "processes";
    std::string json;
    double timeout = 0;  ///< seconds; 0: TREFOIL_TIMEOUT
};

/// Adds the command "put" to `perf`.
void add_perf_put(CLI::App& perf, const Invocation& invocation, Action& action);

}  // namespace trefoil::tool
