// SPDX-License-Identifier: BSD-3-Clause
// Schedules from JSON: what `trefoil plan --all-ranks --json` writes, edited or made by others.
#pragma once

#include <string_view>

#include "algorithms/schedule/schedule_set.hpp"

namespace trefoil {

/// Reads one object for each rank: one after the other (JSON Lines), or as one array; ranks in any
/// order. Every field is checked by itself: type, range, no unknown one. Whether the schedules work
/// is the verifier's to say (algorithms/json/user_schedule.hpp). `port` may be left out: a message
/// then leaves through the first port of its shortest way.
/// Throws Error(invalid_argument) that names the place: "rank 3, part 0, step 2, send 1: ...";
/// Error(unsupported) for circuits that cannot change during it (algorithms/json/circuits.hpp).
ScheduleSet read_schedules(std::string_view text);

}  // namespace trefoil
