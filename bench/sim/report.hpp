// SPDX-License-Identifier: BSD-3-Clause
// The results of `trefoil sim` for people and for programs.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "bench/common/plot.hpp"
#include "bench/sim/runs.hpp"

namespace trefoil::tool {

nlohmann::ordered_json json_of(const Machine& machine);
/// {"collective", "algorithm", "torus", "ranks", "bytes", "model", "sync", "seconds"}: other kinds
/// of results add to it.
nlohmann::ordered_json json_of(const SimOptions& options, const SimRun& run);
/// {"machine": ..., "runs": [...], "left_out": [...]}
nlohmann::ordered_json json_of(const SimOptions& options, const SimResult& result);

/// The baseline's time by torus and size; empty: none is asked for. Throws Error(invalid_argument)
/// when it did not run.
using Baseline = std::map<std::pair<std::string, std::size_t>, double>;
Baseline baseline_of(const SimOptions& options, const SimResult& result);
/// How much faster a run is than the baseline, 1 for twice as fast; NaN where there is none.
double gain(const Baseline& baseline, const SimRun& run);

/// Bytes of the vector per second: "12.3 Gbit/s"; "-" where no time passed.
std::string goodput_text(const SimRun& run);

/// What a list or table begins with: lines that say collective, machine and model.
std::string table_head(const SimOptions& options);
/// A line per run.
std::string list_of(const SimOptions& options, const SimResult& result);
/// By torus a table of times, of goodput and of gains: algorithms below, sizes beside each other.
std::string table_of(const SimOptions& options, const SimResult& result);
/// By torus goodput over size, and with a baseline a map of the gains.
Figure figure_of(const SimOptions& options, const SimResult& result);

}  // namespace trefoil::tool
