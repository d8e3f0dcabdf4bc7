// SPDX-License-Identifier: BSD-3-Clause
// Builders of this family, and the dissemination barrier: few steps with the whole vector in each.
#pragma once

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

// Allreduce, the schedule of one rank each. Thread-safe; they take time and memory in proportion
// to what the rank itself sends. More in butterfly_allreduce.hpp and linear.hpp.
Schedule build_swing_l(const Torus& torus, Rank rank, const BuildOptions& options);
Schedule build_bine_small(const Torus& torus, Rank rank, const BuildOptions& options);
Schedule build_recursive_doubling_l(const Torus& torus, Rank rank, const BuildOptions& options);
Schedule build_recursive_doubling_i(const Torus& torus, Rank rank, const BuildOptions& options);
// Algorithm::flows of these, and of Bine's butterfly, which is Swing's.
ProductFlows swing_l_flows(const Torus& torus);
ProductFlows recursive_doubling_l_flows(const Torus& torus);
ProductFlows recursive_doubling_i_flows(const Torus& torus);
/// Of both recursive doublings, with all ports: an Algorithm::least_steps and least_load.
int steps_of_recursive_doubling(const Torus& torus);
double load_of_recursive_doubling(const Torus& torus);
/// One port, the dimensions of the torus in turn.
Schedule build_recursive_doubling_torus_l(const Torus& torus, Rank rank);
Schedule build_bruck_l(const Torus& torus, Rank rank);
Schedule build_bruck_l_one_way(const Torus& torus, Rank rank);

// Barrier.
Schedule build_barrier(const Torus& torus, Rank rank);
/// What it does to the links of a torus of rings, each rank a node.
LinkSteps barrier_link_steps(const Torus& torus);

}  // namespace trefoil
