// SPDX-License-Identifier: BSD-3-Clause
// Schedules of packed trees and routes: the collectives of long vectors on any network.
#pragma once

#include <string>

#include "algorithms/packing/bounds.hpp"
#include "algorithms/packing/routed.hpp"
#include "algorithms/packing/trees.hpp"
#include "algorithms/schedule/schedule_set.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

/// Empty when packed trees or routes serve this collective on this fabric, else the reason why not.
std::string packed_refusal(const Fabric& fabric, Collective collective);

/// Trees for a collective (none for one rank), and what the busiest link carries, in vectors by its
/// rate.
struct PackedTrees {
    Packing packing;
    double time = 0;
};
/// Throws Error(unsupported) with packed_refusal(). Not for those that go by routes. For an
/// allreduce no more trees are looked for when they take at most `close` times as long as the
/// bound.
PackedTrees pack_trees(const Fabric& fabric, Collective collective, Rank root,
                       double close = close_to_bound);

/// Of bcast, reduce and allreduce what TreePipeline builds for each rank. Of allgather and
/// reduce_scatter a part has one tree per rank; in a step a link carries one block of a part, first
/// those that have the longest way before them. All ranks are in one set, whose torus is
/// Torus::of_fabric(). packed_refusal() must be empty.
ScheduleSet packed_schedules(const Fabric& fabric, const PackedTrees& packed, Collective collective,
                             Rank root, Block pieces);
/// The same, also of those that go by routes: there each rank's block has its own ways.
ScheduleSet packed_schedules(const Fabric& fabric, Collective collective, Rank root, Block pieces);
/// What the busiest link carries in them, in vectors by its rate; with many pieces.
double packed_time(const Fabric& fabric, Collective collective, Rank root);

}  // namespace trefoil
