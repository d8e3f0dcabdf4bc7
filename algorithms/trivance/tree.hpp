// SPDX-License-Identifier: BSD-3-Clause
// The tree of offsets along which Trivance's bandwidth variant reduces on one ring.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// In step k of the reduce-scatter a coordinate exchanges with those at distance distances[k] on
/// both sides. All coordinates use the same tree, told in offsets o = destination - sender: the
/// partial sum for offset o leaves in step levels[o] in the sense of signs[o], and at the receiver
/// it is for offset o - sign * distance, which leaves later or, being 0, has arrived.
///
///     n = 9, distances 1, 3:  level 0: +-1, +-2, +-4 (to 0, +-3), level 1: +-3 (to 0)
struct TrivanceTree {
    Rank size = 1;
    std::vector<Rank> distances;
    std::vector<int> levels;         ///< by offset in [0, size); levels[0] = number of steps
    std::vector<std::int8_t> signs;  ///< by offset; signs[0] = 0
    /// The first `digits` steps go by base-3 digits: what is left before step k <= digits are the
    /// offsets that 3^k divides, and digit 1 travels to the right, digit 2 to the left.
    int digits = 0;
    /// Every step sends equally many partial sums to either side.
    bool balanced = true;
};

/// The tree of least load that a bounded search finds for a ring in a torus of `dimensions` such
/// dimensions, if halves of the vector use it in a mirror. Deterministic, so that all ranks agree.
/// Trees are kept; thread-safe.
std::shared_ptr<const TrivanceTree> trivance_tree(Rank size, int dimensions);

/// That search itself, of a size that 3 does not divide; trivance_tree() knows what it finds for
/// the sizes where it takes long.
TrivanceTree search_trivance_tree(Rank size, int dimensions);

/// The load of one phase in a torus of `dimensions` rings alike, in vectors, times `dimensions`:
/// sum over steps k of d_k/2 (a_k^D - a_(k+1)^D), a_k being the fraction that is held before it.
double trivance_tree_load(const TrivanceTree& tree, int dimensions);

}  // namespace trefoil
