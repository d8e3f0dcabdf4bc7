// SPDX-License-Identifier: BSD-3-Clause
// The figures of links from the messages along the axes alone, or from what is told of each step.
#pragma once

#include <cstdint>

#include "algorithms/analysis/cost_summary.hpp"
#include "algorithms/schedule/algorithm.hpp"
#include "algorithms/schedule/link_steps.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Of an algorithm that tells them (Algorithm::axis_messages), where the axes tell of all links:
/// the same as from the schedules of the ranks on the axes.
CostSummary summarize_axis_messages(const Torus& torus, const Algorithm& algorithm);

/// Of what is told for all links. The vector has `blocks` blocks in each part.
CostSummary summarize_links(const Torus& torus, const LinkSteps& links, std::int64_t blocks);

}  // namespace trefoil
