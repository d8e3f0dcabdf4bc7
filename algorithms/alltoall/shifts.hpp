// SPDX-License-Identifier: BSD-3-Clause
// Alltoall by messages that the network routes: to every rank straight, or in few steps (Bruck).
#pragma once

#include "algorithms/schedule/algorithm.hpp"
#include "algorithms/schedule/link_steps.hpp"

namespace trefoil {

// The schedule of one rank each. Thread-safe; they take time and memory in proportion to what the
// rank itself sends.
Schedule build_linear_alltoall(const Torus& torus, Rank rank);
Schedule build_pairwise_alltoall(const Torus& torus, Rank rank);
Schedule build_orbit_alltoall(const Torus& torus, Rank rank);
Schedule build_bruck_alltoall(const Torus& torus, Rank rank, const BuildOptions& options);
/// What linear and orbit do to the links of a torus of rings, each rank a node.
LinkSteps linear_link_steps(const Torus& torus);
LinkSteps orbit_link_steps(const Torus& torus);
/// The sums of the steps' largest link loads in vectors, or less. Each rank is a node; without
/// options.
double linear_alltoall_load(const Torus& torus);
double pairwise_alltoall_load(const Torus& torus);
double bruck_alltoall_load(const Torus& torus);
/// The most that one message of bruck carries, in vectors.
double bruck_alltoall_message(const Torus& torus, const BuildOptions& options);

}  // namespace trefoil
