// SPDX-License-Identifier: BSD-3-Clause
// `trefoil traffic`: what crosses between groups of a machine.
#pragma once

#include "bench/common/command.hpp"

namespace trefoil::tool {

/// Adds the subcommand to `app`; its body is set when it was the one given.
void add_traffic(CLI::App& app, CommandBody& body);

}  // namespace trefoil::tool
