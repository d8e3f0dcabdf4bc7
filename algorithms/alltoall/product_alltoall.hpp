// SPDX-License-Identifier: BSD-3-Clause
// Alltoalls on a torus from an alltoall on a ring per dimension.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/alltoall/ring_alltoall.hpp"
#include "algorithms/schedule/algorithm.hpp"
#include "algorithms/schedule/link_steps.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace trefoil {

/// By dimension; a dimension of one coordinate has a ring of no steps.
using AlltoallRings = std::vector<std::shared_ptr<const RingAlltoall>>;

/// The dimension in which blocks move, by global step; -1: they rest. Each dimension j appears
/// rings[j]->steps() times.
using DimensionOrder = std::vector<int>;

/// A slice of every block. orders[c] is for the blocks of class c: those whose sum of
/// target_j - source_j is c mod orders.size(). In no step do two classes move in one dimension. All
/// orders of all parts are equally long.
struct AlltoallPart {
    std::vector<DimensionOrder> orders;
    /// Global steps that may load links of which some were loaded in other orders before: with
    /// PhaseSync::signals a barrier stands before them.
    std::vector<int> stages = {};
    /// Rings of two coordinates go the other way round, over the link that they leave idle else.
    bool other_way = false;
};

/// What `rank` does. In ring step i of dimension j it sends the blocks whose coordinates in j are a
/// pair that it sends in that step of ring j, and in every other dimension a pair that it holds
/// then. Blocks that are passed on wait in scratch, those together that come in one step and leave
/// in one message: a message is the sender's own blocks and an extent for each step in which others
/// came. Takes time in proportion to the blocks sent and received.
///
/// An order may depend on the rank if blocks are where those who hold them have the same order: see
/// partition_parts() (algorithms/alltoall/partition.hpp).
///
/// With `sync` a barrier stands between any two global steps, or a step of the rings' signals.
/// Parts know nothing of each other: only one part is kept free of contention.
Schedule alltoall_schedule(const Torus& torus, Rank rank, const AlltoallRings& rings,
                           const std::vector<AlltoallPart>& parts, PhaseSync sync);

/// One part, one dimension after the other.
std::vector<AlltoallPart> sequential_parts(const AlltoallRings& rings);

/// D dimension orders, each a rotation of the others, so that all ports are busy; D is the number
/// of dimensions that have steps. In stage s order c runs dimension (c + s) mod D of those. Shorter
/// rings rest in those steps of a stage that leave the least sum of the largest link loads, or else
/// early, so that all end together. `whole`: one part with D classes, else D parts.
std::vector<AlltoallPart> rotated_parts(const AlltoallRings& rings, bool whole);

/// Where rings of two coordinates load links most: none is longer than three, beside that inside
/// nodes, and two links join the two. Then twice as many parts carry less.
bool needs_other_way(const Torus& torus);
/// Those parts, and as many that go the other way.
std::vector<AlltoallPart> with_other_way(std::vector<AlltoallPart> parts);

/// The sum of the largest link loads that rotated_parts() leaves, in blocks: those of a stage, if
/// each class had all blocks. Takes time in proportion to that of RingAlltoall::traffic().
std::int64_t rotated_load(const AlltoallRings& rings);

/// What rotated_parts() in as many parts do to the links of a torus of rings, with those that go
/// the other way where it needs them.
/// Where no message is onward (RingTraffic), as with signed digits and Bine, `gathered` is exact.
/// Else it is a bound from below: blocks that came at the same time, or that lie side by side by
/// chance, are not gathered.
LinkSteps rotated_link_steps(const Torus& torus, const AlltoallRings& rings);

}  // namespace trefoil
