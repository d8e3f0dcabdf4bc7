// SPDX-License-Identifier: BSD-3-Clause
// The least time in which a network can carry a collective, however it goes about it, with the
// proof: which parts of the network are the narrow place.
#pragma once

#include <optional>
#include <vector>

#include "algorithms/packing/bound.hpp"
#include "algorithms/schedule/collective.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

/// Nothing for collectives without a bound (barrier, scans, exchanges with neighbours). The least
/// upper bound of what any schedule can reach for bcast, reduce, allgather, reduce_scatter, gather
/// and scatter, and for allreduce where both links of each cable have the same rate (there packed
/// trees reach it); a bound for alltoall. Throws Error(unsupported) for a network that is not
/// connected.
std::optional<ThroughputBound> throughput_bound(const Fabric& fabric, Collective collective,
                                                Rank root = 0);

/// A bound that is found at once, and of most networks the least one: what the links of single
/// ranks carry, and of an allreduce also what those of all ranks do. Of allreduce, bcast and
/// allgather; of reduce and reduce_scatter with the links reversed. In vectors.
double quick_bound(const std::vector<FabricLink>& links, Rank ranks, Collective collective,
                   Rank root);

/// Steps that a collective needs at least, if a rank sends one message per port in each: twice for
/// nobody. And the longest way that something must go, in hops.
struct LatencyBound {
    int steps = 0;
    int hops = 0;
};
LatencyBound latency_bound(const Fabric& fabric, Collective collective, Rank root = 0);

}  // namespace trefoil
