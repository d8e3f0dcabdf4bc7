// SPDX-License-Identifier: BSD-3-Clause
// Bcast, reduce, gather, scatter and allreduce along the arc-disjoint trees of spanning_trees.hpp.
#pragma once

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

// The schedule of one rank each. Thread-safe; they take time and memory in proportion to what the
// rank itself sends.
Schedule build_spanning_bcast(const Torus& torus, Rank rank, const BuildOptions& options);
Schedule build_spanning_reduce(const Torus& torus, Rank rank, const BuildOptions& options);
Schedule build_spanning_gather(const Torus& torus, Rank rank, const BuildOptions& options);
Schedule build_spanning_scatter(const Torus& torus, Rank rank, const BuildOptions& options);
/// What these do to the links of a torus of rings, the pipelines with one piece. On nodes of
/// several ranks that takes time in proportion to all that all ranks send.
LinkSteps spanning_bcast_links(const Torus& torus);
LinkSteps spanning_reduce_links(const Torus& torus);
LinkSteps spanning_gather_links(const Torus& torus);
LinkSteps spanning_scatter_links(const Torus& torus);
Schedule build_trinaryx(const Torus& torus, Rank rank, const BuildOptions& options);

}  // namespace trefoil
