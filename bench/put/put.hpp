// SPDX-License-Identifier: BSD-3-Clause
// `trefoil perf put`: its options, and its place among the commands.
#pragma once

#include <string>

#include "bench/common/command.hpp"
#include "bench/perf/common.hpp"

namespace trefoil::tool {

/// The command line as typed; sizes as `perf` takes them for collectives.
struct PutOptions : CommonOptions {
    std::string sizes;   ///< instead of smallest to largest
    int iterations = 0;  ///< round trips, and puts of a stream; 0: by size
    int warmup = -1;     ///< -1: a tenth of the iterations
    int repetitions = 5;
    bool check = false;
    int window = 0;       ///< puts under way; 0: by size
    bool direct = false;  ///< compare what is copied from landing memory with what is put straight
};

/// Adds the command "put" to `perf`.
void add_perf_put(CLI::App& perf, const Invocation& invocation, CommandBody& body);

}  // namespace trefoil::tool
