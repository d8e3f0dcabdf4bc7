// SPDX-License-Identifier: BSD-3-Clause
// Which signed digits the rings of a torus have.
#pragma once

#include "algorithms/alltoall/product_alltoall.hpp"

namespace trefoil {

/// Rings of signed digits of `radix` >= 2. Where dimensions differ in size, some of them take a
/// smaller radix, or spread their digits over more steps, if then rotated parts load links less; no
/// ring has more steps than the longest one of `radix`.
AlltoallRings digit_rings(const Torus& torus, int radix);

}  // namespace trefoil
