// SPDX-License-Identifier: BSD-3-Clause
// The torus product rule: an allreduce on a torus from one ring reduce-scatter per dimension.
#pragma once

#include <memory>
#include <vector>

#include "algorithms/ring_scatter.hpp"

namespace trefoil {

/// One part: a ring primitive per dimension, and the dimension that moves in each global step
/// (`order[i]`; -1: the part is idle, for padding). Each dimension appears rings[j]->steps() times.
struct ProductPart {
    std::vector<std::shared_ptr<const RingScatter>> rings;
    std::vector<int> order;
};

/// Interleaved order of part p: in step i the first unfinished dimension among (p+i)%D, (p+i+1)%D,
/// ...
std::vector<int> interleaved_order(const std::vector<std::shared_ptr<const RingScatter>>& rings,
                                   int part);

/// The ring seen in a mirror (x -> centre - x, 0 <= centre < size): coordinates and signs
/// reflected, positions kept.
std::shared_ptr<const RingScatter> mirrored(std::shared_ptr<const RingScatter> ring,
                                            Rank centre = 0);

/// 2D parts (one for a torus of one rank), D = dimensions with more than one coordinate: D parts
/// over `plain` and D over `mirror`, part p of each in the interleaved order p.
std::vector<ProductPart> interleaved_parts(
    const std::vector<std::shared_ptr<const RingScatter>>& plain,
    const std::vector<std::shared_ptr<const RingScatter>>& mirror);

/// Reduce-scatter in `order`, then the allgather that is its reverse in time: source and target
/// swapped, the port's opposite, replace instead of reduce. In ring step s of dimension j the
/// message that carries ring-blocks B carries B x (product over i != j of what the rank still holds
/// in i). Blocks of a part: one per rank of the torus, positions numbered by the digits of the
/// rings in the order in which their steps come, so that messages are as few extents as the rings
/// allow.
Schedule product_allreduce(const Torus& torus, Rank rank, const std::vector<ProductPart>& parts);

}  // namespace trefoil
