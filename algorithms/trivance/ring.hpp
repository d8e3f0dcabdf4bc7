// SPDX-License-Identifier: BSD-3-Clause
// Trivance's bandwidth variant on one ring, as a reduce-scatter for the torus product rule.
#pragma once

#include <memory>

#include "algorithms/rings/ring_scatter.hpp"
#include "topo/torus.hpp"

namespace trefoil {

struct TrivanceRing {
    std::shared_ptr<const RingScatter> scatter;
    /// False: the two directions carry unequal amounts, which a mirrored half would even out.
    bool balanced = true;
};

/// The ring of `size` in a torus of `dimensions` dimensions of size > 1: ceil(log3 size) steps, one
/// message per direction and step, (size - 1)/size of the vector sent by everyone. Kept;
/// thread-safe.
TrivanceRing trivance_ring(Rank size, int dimensions);

}  // namespace trefoil
