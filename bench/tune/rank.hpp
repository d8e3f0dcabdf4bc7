// SPDX-License-Identifier: BSD-3-Clause
// One rank's part in `trefoil tune`.
#pragma once

#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "bench/tune/tune.hpp"
#include "include/trefoil/trefoil.h"

namespace trefoil::tool {

/// What is to be measured, checked before any rank starts.
struct TunePlan {
    std::vector<Collective> collectives;
    std::vector<std::size_t> sizes;  ///< bytes of the whole vector, ascending
};

/// Measures, prints and writes the file (rank 0); returns the exit code.
int tune_rank(const TuneOptions& options, const TunePlan& plan, const trefoil_config_t& config);

}  // namespace trefoil::tool
