// SPDX-License-Identifier: BSD-3-Clause
// The pages on algorithms, docs/algorithms.md and docs/algorithms/*.md, from the table.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace trefoil::tool {

struct Page {
    std::string path;  ///< below the folder of all pages: "algorithms/bcast.md"
    std::string text;  ///< Markdown; no line over 100 columns on the standard tori
};

/// The index first, then a page per collective. `table`: what algorithm_table() gave, not empty.
std::vector<Page> algorithm_pages(const nlohmann::ordered_json& table);

/// Throws Error(invalid_argument) when there is no such folder.
void require_folder(const std::string& folder);

/// Writes them below `folder`. Throws Error(invalid_argument) when a file cannot be written.
void write_pages(const std::vector<Page>& pages, const std::string& folder);

}  // namespace trefoil::tool
