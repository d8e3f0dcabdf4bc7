// SPDX-License-Identifier: BSD-3-Clause
// Rows of data as a table for the terminal or for a page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace trefoil::tool {

/// `rows`: an array of objects; the members named by `columns` are texts, or arrays of texts, which
/// are joined by commas.
std::string text_table(const nlohmann::ordered_json& rows, const std::vector<std::string>& columns);

/// The same in Markdown.
std::string markdown_table(const nlohmann::ordered_json& rows,
                           const std::vector<std::string>& columns);

}  // namespace trefoil::tool
