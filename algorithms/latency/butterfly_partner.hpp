// SPDX-License-Identifier: BSD-3-Clause
// Who exchanges with whom in a butterfly.
#pragma once

#include "topo/torus.hpp"

namespace trefoil {

/// The partner of `coordinate` in exchange `step` on a ring of `size`, a power of two; for mirrored
/// parts as their mirror shows it (x -> -x). An involution. After log2(size) exchanges everybody
/// has met everybody exactly once, directly or through others.
using ButterflyPartner = Rank (*)(Rank coordinate, int step, Rank size, bool mirrored);

}  // namespace trefoil
