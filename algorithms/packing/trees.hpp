// SPDX-License-Identifier: BSD-3-Clause
// Spanning trees that share the links of a network out among themselves, so that together they
// carry (nearly) all that the network can.
#pragma once

#include <vector>

#include "algorithms/packing/bound.hpp"
#include "algorithms/packing/links.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

/// Leads from a root to all ranks.
struct PackedTree {
    Rank root = 0;
    std::vector<int> entry;  ///< by rank: the link from its parent; -1: the root
};

/// Trees that each carry the same share of a vector, or of every block.
struct Packing {
    std::vector<FabricLink> links;  ///< those of the fabric
    Rank ranks = 0;
    std::vector<PackedTree> trees;
    /// Of an allreduce the trees are used both ways; else from root to leaves, or of a reduction
    /// the other way.
    bool both_ways = false;

    /// Depth of each rank in a tree.
    std::vector<int> depths(const PackedTree& tree) const;
    /// Of the highest tree.
    int height() const;
    /// Of the busiest link: what crosses it by its rate, if each tree carries `share`.
    double time(double share) const;
};

/// For a vector that comes from one root (Edmonds, 1973; found by Lovász's proof, 1976).
Packing pack_from_root(const Fabric& fabric, const std::vector<FabricLink>& links, Rank root,
                       double bound);
/// For an allreduce: trees of any roots, whose cables no other tree uses (matroid union: Roskind
/// and Tarjan, 1985). A cable's slower link counts. Those of the fewest copies of the links that
/// take at most `close` times as long as the bound, if any do, else the best found.
Packing pack_both_ways(const Fabric& fabric, double bound, double close);
/// For blocks of all ranks: the same number of trees from each. They begin as shortest ways; ranks
/// then change parents until no link carries more than it must.
Packing pack_from_all(const Fabric& fabric, const std::vector<FabricLink>& links, double bound);

}  // namespace trefoil
