// SPDX-License-Identifier: BSD-3-Clause
// Builders of the reduce-scatters and allgathers that are no product of rings (product_parts.hpp).
#pragma once

#include <vector>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

// The schedule of one rank each. Thread-safe; they take time and memory in proportion to what the
// rank itself sends. More in direct.hpp and bine_butterfly.hpp.

/// Allreduce, reduce_scatter or allgather.
template <Collective collective>
Schedule build_ring(const Torus& torus, Rank rank, const BuildOptions& options);

Schedule build_hamiltonian_allreduce(const Torus& torus, Rank rank);
Schedule build_hamiltonian_reduce_scatter(const Torus& torus, Rank rank);
Schedule build_hamiltonian_allgather(const Torus& torus, Rank rank);
/// Of so many of the two phases; of nodes, too.
LinkSteps hamiltonian_links(const Torus& torus, int phases);
std::vector<Rank> hamiltonian_owners(const Torus& torus, const BuildOptions& options, int part);

Schedule build_sparbit_allgather(const Torus& torus, Rank rank);

}  // namespace trefoil
