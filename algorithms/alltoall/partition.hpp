// SPDX-License-Identifier: BSD-3-Clause
// Alltoalls that part a torus into smaller ones, which then take turns on its links.
#pragma once

#include <vector>

#include "algorithms/alltoall/product_alltoall.hpp"

namespace trefoil {

/// Dimension j is parted into ways[j] interleaved rings, whose nodes are ways[j] apart.
struct AlltoallPartition {
    std::vector<Rank> ways;  ///< each divides the size of its dimension
    /// The first phase of a dimension that is parted in four takes two steps instead of three.
    bool binary = false;
};

/// The same number of ways in all dimensions.
AlltoallPartition uniform_partition(const Torus& torus, Rank ways, bool binary);

/// The partition into 1 to 4 ways per dimension, none down to rings of one node, whose largest link
/// loads add up to the least; then with the fewest steps, then with the fewest ways. Kept;
/// thread-safe.
AlltoallPartition cheapest_partition(const Torus& torus, bool binary);

/// By dimension: the first phase, then the rings of all ways.
AlltoallRings partition_rings(const Torus& torus, const AlltoallPartition& partition);

/// First every dimension's first phase, which brings each block to a node that is in one ring with
/// its target in every dimension. Then stages: group g, the ranks whose coordinates modulo ways add
/// up to g modulo G = max ways, takes dimension g - s in stage s modulo max(G, D). Of the rings
/// that share a dimension's links only one moves in a stage, since their groups differ. A block
/// stays in its group, so all that a rank has follows the rank's own order.
std::vector<AlltoallPart> partition_parts(const Torus& torus, Rank rank,
                                          const AlltoallPartition& partition);

}  // namespace trefoil
