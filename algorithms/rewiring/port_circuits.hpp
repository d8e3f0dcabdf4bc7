// SPDX-License-Identifier: BSD-3-Clause
// What a circuit switch has to make: which port of which node is joined to which, and the proof
// that a step's messages get through.
#pragma once

#include <string>
#include <vector>

#include "algorithms/rewiring/own_circuits.hpp"
#include "algorithms/rewiring/step_legs.hpp"
#include "algorithms/rewiring/wiring.hpp"

namespace trefoil {

/// Light that leaves `from` through `out` arrives at `to` through `in`.
struct PortCircuit {
    Rank from = 0;
    Port out;
    Rank to = 0;
    Port in;
};

/// A port for both ends of each circuit of one dimension. Of a shifted ring: out of '+' and into
/// '-' of the node `stride` further, and the reverse. Otherwise the lowest ports that are free,
/// with limits.paired the same port for both directions of a pair. Throws Error(internal) when the
/// nodes have not enough ports.
std::vector<PortCircuit> port_circuits(const Torus& torus, int dimension,
                                       const DimensionWiring& wiring, const WiringLimits& limits);

/// Checks, from the circuits alone: each port sends into at most one circuit and receives from at
/// most one, every circuit stays in its dimension, and every message of the step has a way,
/// dimension by dimension. Empty, or what is wrong.
std::string circuits_refusal(const Torus& torus, const StepLegs& step,
                             const std::vector<PortCircuit>& circuits);

}  // namespace trefoil
