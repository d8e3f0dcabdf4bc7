// SPDX-License-Identifier: BSD-3-Clause
// `trefoil sim`: how long collectives take on machines that nobody has here.
#pragma once

#include "bench/common/command.hpp"

namespace trefoil::tool {

/// Adds the subcommand to `app`; its body is set when it was the one given.
void add_sim(CLI::App& app, CommandBody& body);

}  // namespace trefoil::tool
