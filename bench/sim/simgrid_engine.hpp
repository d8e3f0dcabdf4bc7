// SPDX-License-Identifier: BSD-3-Clause
// SimGrid as an engine: a program of its own works the flow model out (bench/simgrid).
#pragma once

#include "bench/sim/engines.hpp"

namespace trefoil::tool {

/// Throws Error(unsupported) for what SimGrid does not model, or not in bounded memory, and
/// Error(not_found) when the program is not beside this one.
std::unique_ptr<Timer> prepare_simgrid(const SimOptions& options, const Network& network,
                                       const Choice& choice);

}  // namespace trefoil::tool
