// SPDX-License-Identifier: BSD-3-Clause
// Options that a subcommand no longer has, or has under another name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace trefoil::tool {

/// `option`, as one typed it until now, is refused: the message is "OPTION `advice`". No --help
/// lists it.
void refuse_option(CLI::App& command, const std::string& option, const std::string& advice);

}  // namespace trefoil::tool
