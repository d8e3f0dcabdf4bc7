// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms with figures on a list of tori: as data, and for the terminal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil::tool {

/// The tori of the pages on algorithms.
std::vector<std::string> standard_tori();

/// Per collective (`only` one, or all): its algorithms with what the table says of them and, by
/// torus, the figures of their schedules or why they refuse it. Single-port variants are entries of
/// their own. Throws Error(invalid_argument) on a torus that makes no sense.
nlohmann::ordered_json algorithm_table(std::optional<Collective> only,
                                       const std::vector<std::string>& tori);

/// The algorithms of a collective in two lines each; with a torus, why some refuse it.
std::string algorithm_list(Collective collective, const std::string& torus);

/// What algorithm_table() gave, for the terminal.
std::string algorithm_table_text(const nlohmann::ordered_json& table);

}  // namespace trefoil::tool
