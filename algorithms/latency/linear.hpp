// SPDX-License-Identifier: BSD-3-Clause
// linear: the root exchanges one message with everybody.
#pragma once

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// The schedule of one rank, for allreduce (through rank 0), bcast, reduce, gather and scatter.
/// Takes time in proportion to the number of ranks, on each.
Schedule build_linear(Collective collective, const Torus& torus, Rank rank,
                      const BuildOptions& options);

}  // namespace trefoil
