// SPDX-License-Identifier: BSD-3-Clause
// All measurements of a collective on one rank.
#pragma once

#include "bench/perf/launch.hpp"
#include "bench/perf/options.hpp"
#include "include/trefoil/trefoil.h"

namespace trefoil::tool {

/// The communicator's configuration by the options; strings stay owned by `options`.
trefoil_config_t configuration(const PerfOptions& options);
/// The same of a rank that is a thread.
trefoil_config_t configuration(const PerfOptions& options, const ThreadRank& me);

/// All measurements of one rank; `config` says how it meets the others. Returns an exit code.
int perf_rank(const PerfOptions& options, const Campaign& campaign, const trefoil_config_t& config);

}  // namespace trefoil::tool
