// SPDX-License-Identifier: BSD-3-Clause
// The engine of this project: the models of algorithms/simulation.
#pragma once

#include "bench/sim/engines.hpp"

namespace trefoil::tool {

std::unique_ptr<Timer> prepare_own(const SimOptions& options, const Network& network,
                                   const Choice& choice);

}  // namespace trefoil::tool
