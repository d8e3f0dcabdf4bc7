// SPDX-License-Identifier: BSD-3-Clause
// Where mirrored parts of a butterfly on a folded ring have their groups.
#pragma once

#include "algorithms/latency/butterfly_partner.hpp"
#include "algorithms/rings/folded_ring.hpp"

namespace trefoil {

/// The folded ring of `size` for a butterfly of all ports, reflected so that plain and mirrored
/// parts together load the links least, step by step. Rings up to 1024 try all reflections, larger
/// ones fewer, and those beyond 4096 none. Reflections are kept; thread-safe.
FoldedRing butterfly_ring(Rank size, ButterflyPartner partner);

}  // namespace trefoil
