// SPDX-License-Identifier: BSD-3-Clause
// The options that `trefoil perf` and `trefoil perf put` have in common.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace trefoil::tool {

/// As typed.
struct CommonOptions {
    std::string min_bytes = "8", max_bytes;
    int step_factor = 8;
    std::string launch = "processes";
    std::string backend, provider, nics;
    double timeout = 0;  ///< seconds; 0: TREFOIL_TIMEOUT
    std::string json;    ///< a file; empty: none
};

/// From the smallest to the largest `thing` (a word of the help) by a factor.
void add_size_range(CLI::App& command, CommonOptions& o, const std::string& thing);
/// How ranks are started and what carries their data, and the file of the results.
void add_rank_options(CLI::App& command, CommonOptions& o);

/// -n is the number of ranks in every other subcommand, and was that of iterations in these.
void refuse_iterations_as_ranks(CLI::App& command);

/// Throws Error when --launch or --backend names what does not exist.
void check_rank_options(const CommonOptions& options);

}  // namespace trefoil::tool
