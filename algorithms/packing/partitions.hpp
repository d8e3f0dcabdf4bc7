// SPDX-License-Identifier: BSD-3-Clause
// The partition of a network that is narrowest for trees which span it: the strength of a graph
// (Cunningham, 1985), the other side of packing trees (Tutte; Nash-Williams, 1961).
#pragma once

#include <vector>

#include "algorithms/packing/bound.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

/// The largest 2 (parts - 1) / C over all partitions of the ranks, and one that has it.
ThroughputBound widest_partition(const std::vector<FabricLink>& links, Rank ranks);

}  // namespace trefoil
