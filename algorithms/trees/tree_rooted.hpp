// SPDX-License-Identifier: BSD-3-Clause
// Bcast, reduce, gather and scatter along the trees of algorithms/trees/torus_tree.hpp.
#pragma once

#include <vector>

#include "algorithms/schedule/algorithm.hpp"
#include "algorithms/trees/torus_tree.hpp"
#include "algorithms/trees/tree_ring.hpp"

namespace trefoil {

/// The schedule of one rank. bcast and scatter go from the root to the leaves, reduce and gather
/// are the same backwards in time. bcast and reduce: a part is one block. gather and scatter: one
/// block per rank, and a message carries those of everybody below its lower end, as one extent.
Schedule build_tree(Collective collective, TreeKind kind, const Torus& torus, Rank rank, Rank root,
                    TreePorts ports);

/// An Algorithm::flows.
ProductFlows tree_flows(Collective collective, TreeKind kind, const Torus& torus);

/// The rank whose block each position of a part is, for gather and scatter.
std::vector<Rank> tree_owners(TreeKind kind, const Torus& torus, Rank root, TreePorts ports,
                              int part);

}  // namespace trefoil
