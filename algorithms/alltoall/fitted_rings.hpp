// SPDX-License-Identifier: BSD-3-Clause
// Rings of which each fits beside those of the other dimensions.
#pragma once

#include "algorithms/alltoall/product_alltoall.hpp"

namespace trefoil {

/// Rings of signed digits of `radix` >= 2. Where dimensions differ in size, some of them take a
/// smaller radix, or spread their digits over more steps, if then rotated parts load links less; no
/// ring has more steps than the longest one of `radix`.
AlltoallRings digit_rings(const Torus& torus, int radix);

/// Longer rings take more steps from neighbour to neighbour than by trees.
inline constexpr Rank longest_passed_on = 13;

/// Gather-scatter trees over all ports. On rings of up to 13 coordinates, but for 8, of which the
/// paper gives figures, pairs are passed on from neighbour to neighbour instead if then rotated
/// parts load links less, in no more steps.
AlltoallRings tree_rings(const Torus& torus);

}  // namespace trefoil
