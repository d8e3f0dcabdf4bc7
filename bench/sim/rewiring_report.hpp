// SPDX-License-Identifier: BSD-3-Clause
// Runs with changing circuits for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/sim/rewiring_runs.hpp"

namespace trefoil::tool {

/// What is wired in each step: {"step", "wiring", "strides", "changed", "hops", "load", "seconds"}.
/// "strides" has a number per dimension, null where it is no shifted ring.
nlohmann::ordered_json circuits_json(const RewiringSubject& subject, const RewiringRun& run,
                                     const RewiringCosts& costs, double bytes);

/// A run as `trefoil sim` has it, and what the changes add.
nlohmann::ordered_json json_of(const RewiringQuestion& question, const RewiringSubject& subject,
                               const RewiringRun& run, const RewiringCosts& costs,
                               std::size_t bytes);

/// "ring x2, stride 4 x3": runs of steps on one wiring.
std::string wirings_text(const RewiringSubject& subject, const WiringSequence& sequence);

/// The wiring of all dimensions: "stride 3", "ring | stride 3".
std::string wiring_text(const Rewiring& rewiring, int dimensions, std::size_t wiring);

/// What a list begins with, and a line per run.
std::string rewiring_head(const RewiringQuestion& question);
std::string line_of(const RewiringSubject& subject, const RewiringRun& run, std::size_t bytes);

}  // namespace trefoil::tool
