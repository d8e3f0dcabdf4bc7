// SPDX-License-Identifier: BSD-3-Clause
// Schedules of blocks that each go their own way on any network: gather, scatter and alltoall.
#pragma once

#include <vector>

#include "algorithms/packing/block_steps.hpp"
#include "algorithms/packing/routes.hpp"
#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

/// Gather, scatter and alltoall; the others go along trees.
constexpr bool goes_by_routes(Collective collective) {
    return collective == Collective::gather || collective == Collective::scatter ||
           collective == Collective::alltoall;
}

/// Of all ranks. A gather's are those of a scatter on links the other way, and run backwards.
struct RoutedBlocks {
    BlockRoutes routes;
    std::vector<RouteStep> crossings;       ///< by part, then by step and link
    std::vector<std::vector<int>> of_rank;  ///< by rank: its crossings, in that order
    int steps = 0;
    double time = 0;  ///< of the busiest link, in vectors by its rate
};
/// More messages than this would take half of a usual landing slot for what each is rounded up by,
/// and notifications tell twice as many apart at most.
inline constexpr int most_messages_of_link = 4096;

/// Blocks are cut into the fewest parts that come close to the bound, or a few more that take
/// least time. Several parts go over a link in one step where that makes no difference to it. A
/// link has most_messages_of_link at most, unless whole blocks are more. The fabric is connected.
RoutedBlocks route_blocks(const Fabric& fabric, Collective collective, Rank root);

/// Of one rank. Ports are those of Torus::of_fabric().
Schedule routed_schedule(const RoutedBlocks& blocks, Collective collective, Rank rank);

}  // namespace trefoil
