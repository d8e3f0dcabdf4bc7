// SPDX-License-Identifier: BSD-3-Clause
// The figures of links from the messages along the axes alone.
#pragma once

#include "algorithms/analysis/cost_summary.hpp"
#include "algorithms/schedule/algorithm.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Of an algorithm that tells them (Algorithm::axis_messages), where the axes tell of all links:
/// the same as from the schedules of the ranks on the axes.
CostSummary summarize_axis_messages(const Torus& torus, const Algorithm& algorithm);

}  // namespace trefoil
