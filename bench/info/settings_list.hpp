// SPDX-License-Identifier: BSD-3-Clause
// The settings in force as data: each variable with its value and where that comes from.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bench/info/choices.hpp"

namespace trefoil::tool {

/// Rows of name, type, default, value (in force), from ("default", "environment", "command line"),
/// help.
nlohmann::ordered_json settings_list(const InfoSettings& in_force);

/// Rows of name, value: the variables of the transports' libraries that are set; they keep their
/// meaning.
nlohmann::ordered_json foreign_variables();

}  // namespace trefoil::tool
