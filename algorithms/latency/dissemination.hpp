// SPDX-License-Identifier: BSD-3-Clause
// The dissemination barrier as steps of any schedule.
#pragma once

#include "algorithms/schedule/schedule.hpp"

namespace trefoil {

/// Appends ceil(log2 p) steps of signals to the writer's part, after which the rank has heard from
/// all others. All ranks of `torus` do so in the same place.
void write_dissemination(const Torus& torus, Rank rank, ScheduleWriter& writer);

}  // namespace trefoil
