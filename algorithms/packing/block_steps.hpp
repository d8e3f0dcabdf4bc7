// SPDX-License-Identifier: BSD-3-Clause
// In which step each block crosses each link of its tree or its route.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/packing/routes.hpp"
#include "algorithms/packing/trees.hpp"

namespace trefoil {

struct BlockStep {
    Rank block = 0;
    int link = 0;
};

/// By step; `trees` are one for each rank's block. In a step a whole link carries one block at
/// most, a slower one takes rests: first goes what has the longest way before it.
std::vector<std::vector<BlockStep>> block_steps(const Packing& packing,
                                                std::span<const PackedTree> trees);

/// A route crosses a link of its own.
struct RouteStep {
    int step = 0;
    int route = 0;
    int link = 0;
};

/// Ascending by step, then by link: all links of all routes. In a step a whole link carries as many
/// parts of blocks as `window` says, a slower one as many less. `time` becomes the sum over the
/// steps of what the busiest link takes, in vectors.
std::vector<RouteStep> route_steps(const BlockRoutes& routes, int window, double& time);

}  // namespace trefoil
