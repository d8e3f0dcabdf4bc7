// SPDX-License-Identifier: BSD-3-Clause
// What an algorithm costs by node, from what it costs between nodes.
#pragma once

#include "algorithms/analysis/cost_summary.hpp"
#include "algorithms/schedule/collective.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// The figures of links (CostSummary::links_only). `between`: of the same algorithm on the torus of
/// the nodes.
CostSummary summarize_by_node(const Torus& torus, const CollectiveTraits& row, CostSummary between);

}  // namespace trefoil
