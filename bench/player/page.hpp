// SPDX-License-Identifier: BSD-3-Clause
// One self-contained HTML page that plays one algorithm's schedule, or two side by side.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace trefoil::tool {

/// `plans`: an array of what schedule_data() gave. Throws Error(unsupported) when the page is
/// larger than largest_page.
std::string player_page(const nlohmann::ordered_json& plans);

/// Throws Error(invalid_argument) when `file` is a folder, or its folder does not exist. Writes
/// nothing.
void require_place_for(const std::string& file);

/// Throws Error(invalid_argument) when it cannot be written.
void write_page(const std::string& file, const std::string& page);

}  // namespace trefoil::tool
