// SPDX-License-Identifier: BSD-3-Clause
// What a tuning file's choices lose against the fastest of all algorithms, in calls drawn at
// random.
#pragma once

#include "bench/tune/rank.hpp"

namespace trefoil::tool {

/// Prints (rank 0); nothing is written. TREFOIL_TUNING names the file by now. Returns the exit
/// code.
int regret_rank(const TuneOptions& options, const TunePlan& plan, const trefoil_config_t& config);

}  // namespace trefoil::tool
