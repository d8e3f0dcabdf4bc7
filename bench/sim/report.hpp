// SPDX-License-Identifier: BSD-3-Clause
// The results of `trefoil sim` for people and for programs.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/sim/runs.hpp"

namespace trefoil::tool {

nlohmann::ordered_json json_of(const Machine& machine);
/// {"collective", "algorithm", "torus", "ranks", "bytes", "model", "sync", "seconds"}: other kinds
/// of results add to it.
nlohmann::ordered_json json_of(const SimOptions& options, const SimRun& run);
/// {"machine": ..., "runs": [...], "left_out": [...]}
nlohmann::ordered_json json_of(const SimOptions& options, const SimResult& result);

/// What the table begins with: lines that say collective, machine and model.
std::string table_head(const SimOptions& options);
/// Throws Error(invalid_argument) when the baseline did not run.
std::string table_of(const SimOptions& options, const SimResult& result);

}  // namespace trefoil::tool
