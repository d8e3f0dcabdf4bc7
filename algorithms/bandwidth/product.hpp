// SPDX-License-Identifier: BSD-3-Clause
// The torus product rule: allreduce, reduce_scatter and allgather on a torus from one ring
// reduce-scatter per dimension.
#pragma once

#include <vector>

#include "algorithms/bandwidth/product_part.hpp"
#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// What one rank does in a collective made of a reduce-scatter in `order` and the allgather that is
/// its reverse in time: source and target swapped, the port's opposite, replace instead of reduce.
/// Collective::allreduce is both, reduce_scatter and allgather are one of them.
///
/// In ring step s of dimension j the message that carries ring-blocks B carries B x (product over
/// i != j of what the rank still holds in i). Blocks of a part: one per rank of the torus, numbered
/// in the order in which the steps cut them, so that messages are as few extents as the rings
/// allow. The layouts are those of reduce_scatter and allgather; automatic is permute, and
/// two_transmissions is block_by_block over parts that are made for it. `sizes_only`: as in
/// BuildOptions, where blocks are renumbered.
Schedule product_schedule(const Torus& torus, Rank rank, const std::vector<ProductPart>& parts,
                          Collective collective, Layout layout = Layout::automatic,
                          bool sizes_only = false);

/// The steps of parts[index] alone, after whatever the writer's part holds already.
void write_product_steps(ScheduleWriter& writer, const Torus& torus, Rank rank,
                         const std::vector<ProductPart>& parts, int index, Collective collective,
                         Layout layout = Layout::automatic, bool sizes_only = false);

/// What travels in the parts' reduce-scatter, each a phase; the allgather is the same backwards.
std::vector<ProductPhase> scatter_phases(const std::vector<ProductPart>& parts);
ProductFlows product_flows(const Torus& torus, const std::vector<ProductPart>& parts,
                           Collective collective);

/// The Algorithm::owners of a part: the rank that ends the reduce-scatter with each position if
/// blocks are renumbered, else block b is rank b's.
std::vector<Rank> product_owners(const Torus& torus, const ProductPart& part,
                                 Layout layout = Layout::automatic);

}  // namespace trefoil
