// SPDX-License-Identifier: BSD-3-Clause
// Schedules of packed trees: the collectives of long vectors on any network.
#pragma once

#include <string>

#include "algorithms/packing/bounds.hpp"
#include "algorithms/packing/trees.hpp"
#include "algorithms/schedule/schedule_set.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

/// The torus on which a fabric's schedules are written: its own, if all nodes are there and no row
/// is twisted; else a cubic one of as many ranks, whose ports say nothing about links.
Torus schedule_torus(const Fabric& fabric);

/// Empty when packed trees serve this collective on this fabric, else the reason why not.
std::string packed_refusal(const Fabric& fabric, Collective collective);

/// Trees for a collective, and what the busiest link carries, in vectors by its rate.
struct PackedTrees {
    Packing packing;
    double time = 0;
};
PackedTrees pack_trees(const Fabric& fabric, Collective collective, Rank root);

/// One part per tree of bcast, reduce and allreduce, cut into `pieces` (0: a default); in a step a
/// piece goes one link further. Of allgather and reduce_scatter a part has one tree per rank; in a
/// step a link carries one block of a part, first those that have the longest way before them.
/// All ranks are in one set. packed_refusal() must be empty.
ScheduleSet packed_schedules(const Fabric& fabric, Collective collective, Rank root, Block pieces);

}  // namespace trefoil
