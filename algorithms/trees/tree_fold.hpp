// SPDX-License-Identifier: BSD-3-Clause
// How an odd ring is cut into groups, between the centres of which a Bine tree runs.
#pragma once

#include <vector>

#include "algorithms/trees/tree_kind.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// As many groups of one or two neighbours as the largest power of two in the ring's size. The
/// centre of group 0 is coordinate 0.
struct TreeFold {
    static constexpr Rank none = -1;
    std::vector<Rank> centre;  ///< by group
    std::vector<Rank> member;  ///< the other one of the group, or none
};

/// Groups as even as possible, the first of each its centre.
TreeFold even_fold(Rank size);

/// The groups of least load, and then of the fewest hops, that a bounded search finds: even groups
/// in all rotations, then single groups otherwise. Deterministic, so that all ranks agree. Folds
/// are kept; thread-safe.
TreeFold balanced_fold(Rank size, TreeKind::Distance distance, TreeKind::Cut cut);

}  // namespace trefoil
