// SPDX-License-Identifier: BSD-3-Clause
// direct: every rank sends each other rank what that one needs straight.
#pragma once

#include "algorithms/schedule/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

// The schedules of one rank. They take time in proportion to p log p, and have ceil((p-1) / 32)
// steps with messages, in one part.

/// Every rank collects all contributions and reduces them in rank order from the left.
Schedule build_direct_allreduce(const Torus& torus, Rank rank);
/// The same of each block, by its owner.
Schedule build_direct_reduce_scatter(const Torus& torus, Rank rank);
Schedule build_direct_allgather(const Torus& torus, Rank rank);
/// Allreduce: the direct reduce_scatter, in 2D parts (D dimensions with more than one coordinate),
/// then bucket's allgather.
Schedule build_ordered(const Torus& torus, Rank rank);

}  // namespace trefoil
