// SPDX-License-Identifier: BSD-3-Clause
// `trefoil sim --html`: a page that plays one algorithm in time, or two beside each other.
#pragma once

#include <string>
#include <vector>

#include "bench/sim/options.hpp"
#include "bench/sim/rewiring_runs.hpp"

namespace trefoil::tool {

/// By the flow model. Writes the page and says where. Returns the exit code. Throws Error for what
/// cannot be simulated or drawn, or is too large for a page; then nothing is written.
int write_sim_page(const SimOptions& options, const std::string& file);

/// By the step model, on the cheapest sequence of wirings of each algorithm.
int write_rewiring_page(const RewiringQuestion& question, const std::vector<RewiringField>& fields,
                        const std::string& file);

}  // namespace trefoil::tool
