// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm is taken, by size and shape.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bench/explain/question.hpp"

namespace trefoil::tool {

/// A row for each shape: what is taken for each size.
nlohmann::ordered_json crossovers(const ExplainOptions& options);

/// For people.
std::string crossovers_text(const nlohmann::ordered_json& map);

/// Draws it: each algorithm has a colour. Throws what write_figure() throws.
void draw_crossovers(const nlohmann::ordered_json& map, const std::string& file);

}  // namespace trefoil::tool
