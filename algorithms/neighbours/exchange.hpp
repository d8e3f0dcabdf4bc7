// SPDX-License-Identifier: BSD-3-Clause
// The exchange with all neighbours of the torus.
#pragma once

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// `collective` is neighbor_allgather or neighbor_alltoall.
Schedule build_neighbour_exchange(Collective collective, const Torus& torus, Rank rank);

}  // namespace trefoil
