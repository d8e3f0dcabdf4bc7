// SPDX-License-Identifier: BSD-3-Clause
// Networks in JSON files, wherever the command line takes a torus.
#pragma once

#include <CLI/CLI.hpp>

namespace trefoil::tool {

/// Lets an option that takes a torus, or a comma list of them, take files, too: each FILE.json
/// (algorithms/json/network.hpp) becomes the text of its network. A file that cannot be read or
/// used throws Error(not_found or invalid_argument) that names it.
CLI::Option* take_network_files(CLI::Option* torus);

}  // namespace trefoil::tool
