// SPDX-License-Identifier: BSD-3-Clause
// Running `trefoil perf`: as one rank, as threads of this process, or as processes to be started.
#pragma once

#include <string>
#include <vector>

#include "bench/perf_options.hpp"
#include "include/trefoil/trefoil.h"

namespace trefoil::tool {

/// The communicator's configuration by the options; strings stay owned by `options`.
trefoil_config_t configuration(const PerfOptions& options);

/// All measurements of one rank; `config` says how it meets the others. Returns an exit code.
int perf_rank(const PerfOptions& options, const Campaign& campaign, const trefoil_config_t& config);

/// N ranks as threads that meet in this process.
int perf_threads(const PerfOptions& options, const Campaign& campaign, Rank ranks);

/// N ranks as processes: this tool again, with the same `arguments`, under the launcher.
int perf_processes(const PerfOptions& options, const std::vector<std::string>& arguments,
                   Rank ranks);

}  // namespace trefoil::tool
