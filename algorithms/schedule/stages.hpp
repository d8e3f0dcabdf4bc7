// SPDX-License-Identifier: BSD-3-Clause
// Some steps of a schedule, as a schedule of their own.
#pragma once

#include <cstddef>

#include "algorithms/schedule/schedule_set.hpp"

namespace trefoil {

/// Steps [first, end) of all parts of all ranks. Blocks stay where they are, so stages that run one
/// after the other in the same vectors do what the whole does, if it has no scratch blocks.
ScheduleSet stage_of(const ScheduleSet& whole, std::size_t first, std::size_t end);

}  // namespace trefoil
