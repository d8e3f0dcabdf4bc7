// SPDX-License-Identifier: BSD-3-Clause
// What a step's messages cost on a wiring: the longest way and the busiest circuit.
#pragma once

#include <vector>

#include "algorithms/rewiring/step_legs.hpp"
#include "algorithms/rewiring/wiring.hpp"

namespace trefoil {

/// Hops from a node to the one that is `displacement` (0 .. size - 1) further, the shorter way, on
/// C(stride) of a row of `size` nodes; -1: it is on another ring.
int stride_hops(Rank size, Rank stride, Rank displacement);

/// Messages take a shortest way. On a shifted ring that is the shorter way round; where both are
/// equally long, as Leg::split says. Among other circuits, where several shortest ways lead on from
/// a node, the bytes are shared evenly among the next nodes (all go to the lowest rank where
/// Leg::split is false). Parallel circuits share evenly.
WiringLoad load_on(const Torus& torus, const StepLegs& step, int dimension,
                   const DimensionWiring& wiring);

}  // namespace trefoil
