// SPDX-License-Identifier: BSD-3-Clause
// --per-node: the torus of --torus with several ranks at each place.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

#include "topo/torus.hpp"

namespace trefoil::tool {

/// Adds the option; with_nodes() is to follow once all options are read.
void add_per_node(CLI::App& command, Rank& per_node);

/// `tori`: sizes, or a comma list of them; per_node 0: as they are. Throws Error(invalid_argument)
/// for a torus that has nodes already.
std::string with_nodes(std::string_view tori, Rank per_node);

}  // namespace trefoil::tool
