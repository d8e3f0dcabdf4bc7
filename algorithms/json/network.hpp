// SPDX-License-Identifier: BSD-3-Clause
// Networks as JSON: what Fabric::parse() reads as text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "topo/fabric.hpp"

namespace trefoil {

/// Reads an object such as
///
///     {"dimensions": [{"size": 4, "twist": {"along": 1, "shift": 2}}, {"size": 4}],
///      "nodes": [{"place": 5, "rate": 0}],
///      "cables": [{"place": 4, "direction": "+0", "rate": 0.5}],
///      "links": [{"place": 2, "direction": "-1", "rate": 0.25}]}
///
/// All but "dimensions" may be missing. A dimension with "closes": false has rows that are lines. A
/// rate goes from 0 (missing, down) to 1 (whole) in thousandths. Throws Error(invalid_argument)
/// that names the place in the text: cables[0].
Fabric read_network(std::string_view text);

/// What read_network() reads, in one form for each fabric: lists that would be empty are left out.
nlohmann::ordered_json network_json(const Fabric& fabric);

}  // namespace trefoil
