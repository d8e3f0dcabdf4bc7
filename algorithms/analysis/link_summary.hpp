// SPDX-License-Identifier: BSD-3-Clause
// The figures of links from what is told of each step.
#pragma once

#include <cstdint>

#include "algorithms/analysis/cost_summary.hpp"
#include "algorithms/schedule/link_steps.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Of what is told for all links. The vector has `blocks` blocks in each part.
CostSummary summarize_links(const Torus& torus, const LinkSteps& links, std::int64_t blocks);

}  // namespace trefoil
