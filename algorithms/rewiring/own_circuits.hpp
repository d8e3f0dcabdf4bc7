// SPDX-License-Identifier: BSD-3-Clause
// The own wiring of a step: a circuit for each pair of ranks that exchange a message in it.
#pragma once

#include <string>
#include <variant>

#include "algorithms/rewiring/step_legs.hpp"
#include "algorithms/rewiring/wiring.hpp"

namespace trefoil {

/// Ports of a node along one dimension.
inline constexpr int ports_per_dimension = 2;

/// Why a step's own wiring cannot be.
struct Unwirable {
    int step = 0;
    int dimension = 0;
    std::string reason;  ///< begins with "step 3: "
};

/// One circuit from each sender to each of its receivers along `dimension`; two parallel ones where
/// messages of the step go there through both ports and no other node needs them. Nothing: nobody
/// sends along this dimension in this step. A node sends to at most two others and receives from at
/// most two; more, or a message that crosses several dimensions, cannot be wired.
std::variant<std::monostate, DimensionWiring, Unwirable> own_wiring(const Torus& torus,
                                                                    const StepLegs& step,
                                                                    int dimension,
                                                                    const WiringLimits& limits);

/// Empty, or why nodes have not enough ports along a dimension for these circuits: "rank 5 ...".
std::string port_shortage(const Torus& torus, int dimension, const std::vector<Circuit>& circuits,
                          const WiringLimits& limits);

}  // namespace trefoil
