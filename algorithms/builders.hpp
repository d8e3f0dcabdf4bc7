// SPDX-License-Identifier: BSD-3-Clause
// The builders behind the table of algorithms: each makes the schedule of one rank, on any torus.
#pragma once

#include "algorithms/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

// All are thread-safe and take time and memory in proportion to what the rank itself sends.

// Allreduce, few steps with the whole vector in each.
Schedule build_trivance_l(const Torus& torus, Rank rank);
Schedule build_trivance_g(const Torus& torus, Rank rank);
Schedule build_swing_l(const Torus& torus, Rank rank);
Schedule build_recursive_doubling_l(const Torus& torus, Rank rank);
Schedule build_recursive_doubling_i(const Torus& torus, Rank rank);

// Allreduce, reduce-scatter and allgather.
Schedule build_trivance_b(const Torus& torus, Rank rank);
Schedule build_swing_b(const Torus& torus, Rank rank);
Schedule build_recursive_doubling_b(const Torus& torus, Rank rank);
Schedule build_bucket(const Torus& torus, Rank rank);
Schedule build_ring(const Torus& torus, Rank rank);

// Barrier.
Schedule build_barrier(const Torus& torus, Rank rank);

}  // namespace trefoil
