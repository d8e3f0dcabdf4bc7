// SPDX-License-Identifier: BSD-3-Clause
// Which cores each of several ranks of one host is to run on: whole NUMA nodes, in equal shares.
#pragma once

#include <vector>

#include "topo/locality.hpp"

namespace trefoil {

/// Shares the cores of `allowed` out among `ranks` ranks, consecutive ranks near each other. A rank
/// gets the NUMA nodes of which at least half the cores are in its share, or else the one that has
/// the middle of its share; of these all allowed cores, so ranks of one NUMA node have the same.
/// Cores of no NUMA node are left out. One list for each rank, ascending; no list at all when there
/// is nothing to decide: one rank, or allowed cores on fewer than two NUMA nodes.
std::vector<std::vector<int>> cores_by_rank(const std::vector<NumaNode>& numa_nodes,
                                            const std::vector<int>& allowed, int ranks);

}  // namespace trefoil
