// SPDX-License-Identifier: BSD-3-Clause
// Ways of blocks from rank to rank that share the links of a network out among themselves: those of
// a scatter, and those of an alltoall.
#pragma once

#include <vector>

#include "algorithms/packing/links.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

/// The links that a part of a block crosses, one after the other.
struct BlockRoute {
    Rank from = 0, to = 0;
    std::vector<int> links;
};

/// Every block is cut into `parts` equal ones, and each goes its own way.
struct BlockRoutes {
    std::vector<FabricLink> links;  ///< those of the fabric, or reversed
    Rank ranks = 0;
    int parts = 1;
    std::vector<BlockRoute> routes;  ///< those of the first part, then as many of the next one

    int part_of(std::size_t route) const {
        return static_cast<int>(route / (routes.size() / to_index(parts)));
    }
    /// By link.
    std::vector<int> loads() const;
    /// Of the busiest link: what crosses it by its rate, in vectors of `ranks` blocks.
    double time() const;
};

/// Ways from a root to all others: a flow of whole parts (Ford and Fulkerson, 1956), taken apart
/// into ways, short ones first. It takes the least time that whole parts permit, nearly.
BlockRoutes route_from_root(const std::vector<FabricLink>& links, Rank ranks, Rank root, int parts,
                            double bound);

/// Ways between all pairs. They begin as shortest ones; those over links that carry too much then
/// look for cheaper ways, while such links grow dearer: negotiated congestion (McMurchie and
/// Ebeling, FPGA 1995). This proves no optimum.
BlockRoutes route_pairs(const std::vector<FabricLink>& links, Rank ranks, int parts, double bound);

}  // namespace trefoil
