// SPDX-License-Identifier: BSD-3-Clause
// The inventory as text: one screen, or everything.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace trefoil::tool {

/// Versions, choices and their reasons, ports, what is set: one screen.
void print_summary(const nlohmann::ordered_json& all);
/// The environment variables, with what is in force.
void print_variables(const nlohmann::ordered_json& all);
/// The summary, and all tables.
void print_everything(const nlohmann::ordered_json& all);

}  // namespace trefoil::tool
