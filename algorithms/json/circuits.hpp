// SPDX-License-Identifier: BSD-3-Clause
// The circuits that a schedule's steps name, as JSON and checked.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "algorithms/json/checked_object.hpp"
#include "algorithms/schedule/schedule_set.hpp"

namespace trefoil {

/// What the object of `rank` says under "circuits", added to what the ranks before have said.
/// Throws Error(invalid_argument) that names the place.
void read_circuits(const CheckedObject& object, const Torus& torus, Rank rank, bool first,
                   std::vector<CircuitChange>& changes);

/// Once all schedules are there. Throws Error(invalid_argument) where a circuit's two ends do not
/// say the same, or a message has no way along the circuits behind its port; Error(unsupported) for
/// what cannot be run in pieces.
void check_circuits(const ScheduleSet& set);

/// The part of one rank.
nlohmann::ordered_json circuits_json(const std::vector<CircuitChange>& changes, const Torus& torus,
                                     Rank rank);

}  // namespace trefoil
