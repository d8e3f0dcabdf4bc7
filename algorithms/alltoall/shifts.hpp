// SPDX-License-Identifier: BSD-3-Clause
// Alltoall by messages that the network routes: to every rank straight, or in few steps (Bruck).
#pragma once

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

// The schedule of one rank each. Thread-safe; they take time and memory in proportion to what the
// rank itself sends.
Schedule build_linear_alltoall(const Torus& torus, Rank rank);
Schedule build_pairwise_alltoall(const Torus& torus, Rank rank);
Schedule build_orbit_alltoall(const Torus& torus, Rank rank);
Schedule build_bruck_alltoall(const Torus& torus, Rank rank, const BuildOptions& options);
/// The most that one message of bruck carries, in vectors.
double bruck_alltoall_message(const Torus& torus, const BuildOptions& options);

}  // namespace trefoil
