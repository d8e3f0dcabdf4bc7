// SPDX-License-Identifier: BSD-3-Clause
// Shortest ways along any list of circuits.
#pragma once

#include <span>
#include <vector>

#include "algorithms/rewiring/step_legs.hpp"
#include "algorithms/rewiring/wiring.hpp"

namespace trefoil {

/// load_on() for circuits that are no shifted ring. `circuits` ascend by (from, to). Time: for each
/// rank that receives, in proportion to the circuits from where it can be reached.
WiringLoad load_on_circuits(Rank ranks, std::span<const Leg> legs,
                            std::span<const Circuit> circuits);

/// The vectors over each of the circuits; over one of them where several are parallel.
std::vector<double> loads_by_circuit(Rank ranks, std::span<const Leg> legs,
                                     std::span<const Circuit> circuits);

}  // namespace trefoil
