// SPDX-License-Identifier: BSD-3-Clause
// The builders behind the table of algorithms: each makes the schedule of one rank, on any torus.
#pragma once

#include "algorithms/schedule/algorithm.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

// All are thread-safe and take time and memory in proportion to what the rank itself sends.

// Allreduce, few steps with the whole vector in each.
Schedule build_trivance_l(const Torus& torus, Rank rank);
Schedule build_trivance_g(const Torus& torus, Rank rank);
Schedule build_swing_l(const Torus& torus, Rank rank, const BuildOptions& options);
Schedule build_bine_small(const Torus& torus, Rank rank, const BuildOptions& options);
Schedule build_recursive_doubling_l(const Torus& torus, Rank rank, const BuildOptions& options);
Schedule build_recursive_doubling_i(const Torus& torus, Rank rank, const BuildOptions& options);
Schedule build_bruck_l(const Torus& torus, Rank rank);

/// Allreduce, reduce_scatter or allgather.
template <Collective collective>
Schedule build_ring(const Torus& torus, Rank rank, const BuildOptions& options);

// Allreduce as reduce-scatter and allgather; more in algorithms/bandwidth/product_parts.hpp.
Schedule build_trivance_b(const Torus& torus, Rank rank);
Schedule build_hamiltonian_allreduce(const Torus& torus, Rank rank);

// Reduce-scatter and allgather; more in algorithms/bandwidth/product_parts.hpp.
Schedule build_hamiltonian_reduce_scatter(const Torus& torus, Rank rank);
Schedule build_hamiltonian_allgather(const Torus& torus, Rank rank);
std::vector<Rank> hamiltonian_owners(const Torus& torus, const BuildOptions& options, int part);
Schedule build_sparbit_allgather(const Torus& torus, Rank rank);

// Rooted collectives.
Schedule build_spanning_bcast(const Torus& torus, Rank rank, const BuildOptions& options);
Schedule build_spanning_reduce(const Torus& torus, Rank rank, const BuildOptions& options);
Schedule build_spanning_scatter(const Torus& torus, Rank rank, const BuildOptions& options);
Schedule build_spanning_gather(const Torus& torus, Rank rank, const BuildOptions& options);

// Alltoall, messages that the network routes.
Schedule build_linear_alltoall(const Torus& torus, Rank rank);
Schedule build_pairwise_alltoall(const Torus& torus, Rank rank);
Schedule build_orbit_alltoall(const Torus& torus, Rank rank);
Schedule build_bruck_alltoall(const Torus& torus, Rank rank, const BuildOptions& options);
/// The most that one message of bruck_exchange carries, in vectors.
double bruck_alltoall_message(const Torus& torus, const BuildOptions& options);

// Barrier.
Schedule build_barrier(const Torus& torus, Rank rank);

}  // namespace trefoil
