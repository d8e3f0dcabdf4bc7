// SPDX-License-Identifier: BSD-3-Clause
// direct: every rank sends each other rank its block straight.
#pragma once

#include "algorithms/schedule/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Messages that a rank sends in one step of one part; a bound on what is under way at once.
inline constexpr Rank direct_peers_per_step = 32;

// The schedules of one rank. Both take time in proportion to p log p and give each of 2D parts (D
// dimensions with more than one coordinate) ceil((p-1) / direct_peers_per_step) steps with
// messages.

/// The owner collects all contributions and reduces them in rank order from the left.
Schedule build_direct_reduce_scatter(const Torus& torus, Rank rank);
Schedule build_direct_allgather(const Torus& torus, Rank rank);
/// Allreduce: the direct reduce_scatter, then bucket's allgather.
Schedule build_ordered(const Torus& torus, Rank rank);

}  // namespace trefoil
