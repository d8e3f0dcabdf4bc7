// SPDX-License-Identifier: BSD-3-Clause
// `trefoil plan --circuits --all-ranks --json`: schedules whose steps name their circuits.
#pragma once

#include <string>

#include "algorithms/rewiring/rewiring.hpp"
#include "comm/plan/choices.hpp"

namespace trefoil::tool {

/// One JSON object per rank and line. Throws Error(unsupported) where circuits do not lead from
/// ports to opposite ports, or the schedule cannot run in pieces.
std::string wired_schedules(const Torus& torus, const Choice& choice, const Rewiring& rewiring,
                            const WiringSequence& sequence);

}  // namespace trefoil::tool
