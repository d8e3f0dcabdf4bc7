// SPDX-License-Identifier: BSD-3-Clause
// A part of a product: a ring reduce-scatter per dimension, and when each dimension moves.
#pragma once

#include <memory>
#include <vector>

#include "algorithms/rings/ring_scatter.hpp"

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

/// A dimension's ring, and the same with both ways round exchanged.
struct RingPair {
    std::shared_ptr<const RingScatter> plain;
    std::shared_ptr<const RingScatter> mirror;
};

/// 2D parts (one for a torus of one rank), D = dimensions with more than one coordinate: D parts
/// over the plain rings and D over the mirrors, part p of each in the interleaved order p.
std::vector<ProductPart> interleaved_parts(const std::vector<RingPair>& pairs);

/// The first of those alone, for single-port variants.
ProductPart first_part(std::vector<std::shared_ptr<const RingScatter>> plain);

}  // namespace trefoil
