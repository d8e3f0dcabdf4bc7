// SPDX-License-Identifier: BSD-3-Clause
// Builders of the Trivance family.
#pragma once

#include <vector>

#include "algorithms/bandwidth/product_part.hpp"
#include "algorithms/schedule/options.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

// Allreduce, the schedule of one rank each. Thread-safe; they take time and memory in proportion
// to what the rank itself sends.
Schedule build_trivance_l(const Torus& torus, Rank rank);
Schedule build_trivance_g(const Torus& torus, Rank rank);
Schedule build_trivance_b(const Torus& torus, Rank rank, const BuildOptions& options);

/// Of reduce_scatter and allgather, as bandwidth/product_parts.hpp has them for other algorithms.
std::vector<ProductPart> trivance_parts(const Torus& torus);

}  // namespace trefoil
