// SPDX-License-Identifier: BSD-3-Clause
// Bcast and reduce of large vectors by Bine's trees and butterflies together.
#pragma once

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// bcast: the vector is scattered along the distance-doubling tree and gathered by all in the
/// butterfly. reduce: the same backwards in time, reduce-scatter and gather. A part has one block
/// per rank.
Schedule build_bine_large(Collective collective, const Torus& torus, Rank rank,
                          const BuildOptions& options);

/// An Algorithm::flows.
ProductFlows bine_large_flows(Collective collective, const Torus& torus);

}  // namespace trefoil
