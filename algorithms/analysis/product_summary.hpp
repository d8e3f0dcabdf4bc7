// SPDX-License-Identifier: BSD-3-Clause
// The figures of links of algorithms whose messages are those of a ring per dimension.
#pragma once

#include "algorithms/analysis/cost_summary.hpp"
#include "algorithms/schedule/product_flows.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// The same as from the schedules of all ranks. Takes time in proportion to the sizes of the rings,
/// not to their product.
CostSummary summarize_product(const Torus& torus, const ProductFlows& flows);

}  // namespace trefoil
