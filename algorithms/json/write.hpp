// SPDX-License-Identifier: BSD-3-Clause
// A schedule as JSON: docs/own-schedules.md tells the fields, schedule.schema.json their types.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// One rank's schedule as data, complete enough to be run again (algorithms/json/read.hpp): whose
/// it is (collective, algorithm, torus, ranks, rank, root or null), and parts -> steps -> moves,
/// sends, receives; extents as [first, count]. Where ranks have blocks, parts say by `owners` whose
/// block each position is.
nlohmann::ordered_json schedule_json(const Torus& torus, const Algorithm& algorithm,
                                     const BuildOptions& options, const Schedule& schedule);

}  // namespace trefoil
