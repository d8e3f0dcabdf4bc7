// SPDX-License-Identifier: BSD-3-Clause
// Collectives of nodes with several ranks: inside each node first, then between nodes by any
// algorithm, then inside each node again.
//
// The nodes have h ranks each. An algorithm for one rank per node cuts the vector into parts; here
// each part is cut into h again, one for each rank of a node, its *leader*. The leader collects the
// part from the ranks of its node (a reduction is done once, by the leader), takes it between the
// nodes by that algorithm, with the leaders of that part on the other nodes, and gives the ranks of
// its node what they are to have. So all ranks of a node are leaders at the same time, each part
// crosses a node's links as often as with one rank per node, and the ports of all leaders share
// them. Hierarchical collectives with several leaders: Bayatpour et al., SC 2017 (DPML).
#pragma once

#include <string>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// Whether the schedules of an algorithm can serve between nodes: its collective is one of those
/// that can be cut so, and it does not read the memory of peers.
bool suits_nodes(const Algorithm& algorithm);

// What Algorithm's functions of the same purpose say of BuildOptions::by_node; `between` is the
// algorithm between nodes, `torus` that of all ranks, whose last dimension is the host dimension.
// Roots are ranks of `torus`.
std::string by_node_refusal(const Algorithm& between, const Torus& torus,
                            const BuildOptions& options);
Schedule build_by_node(const Algorithm& between, const Torus& torus, Rank rank,
                       const BuildOptions& options);
double by_node_landing(const Algorithm& between, const Torus& torus, const BuildOptions& options);
std::vector<Rank> by_node_owners(const Algorithm& between, const Torus& torus,
                                 const BuildOptions& options, int part);
/// Of the translations of the nodes, as ranks.
std::vector<Rank> by_node_alike(const Algorithm& between, const Torus& torus);

}  // namespace trefoil
