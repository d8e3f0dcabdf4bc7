// SPDX-License-Identifier: BSD-3-Clause
// What each circuit of a wiring carries in a step, for who draws it.
#pragma once

#include <vector>

#include "algorithms/rewiring/step_legs.hpp"
#include "algorithms/rewiring/wiring.hpp"

namespace trefoil {

/// Vectors over each of circuits_of(torus, dimension, wiring); of parallel circuits over the
/// busiest. The largest is the load that load_on() tells. The step's messages must get there.
std::vector<double> circuit_loads(const Torus& torus, const StepLegs& step, int dimension,
                                  const DimensionWiring& wiring);

}  // namespace trefoil
