// SPDX-License-Identifier: BSD-3-Clause
// Writes tuning files: an entry is added, or what was found anew takes its place in the one for the
// same jobs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "comm/setup/tuning.hpp"

namespace trefoil {

/// Numbers of the model as TREFOIL_MODEL has them: {"step", "1.2us"}.
using ModelNumbers = std::vector<std::pair<std::string, std::string>>;

/// What was found of jobs of one kind.
struct TunedJob {
    TuningKey key;
    std::string made = {};               ///< by whom, when and where
    ModelNumbers numbers = {};           ///< none: the entry keeps its own
    std::vector<TuningRule> rules = {};  ///< no two of them are for the same call
};

/// "trefoil 0.1.0, 2026-01-31, host, machine": of this process, today.
std::string made_here();

/// Throws Error(invalid_argument) for a file that is there and no tuning file, or a folder where
/// nothing can be written.
void require_tuning_file(const std::string& path);

/// The file is complete at any moment. Throws Error(system_error), or as above.
void write_tuning_file(const std::string& path, const TunedJob& job);

}  // namespace trefoil
