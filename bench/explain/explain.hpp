// SPDX-License-Identifier: BSD-3-Clause
// `trefoil explain`: which algorithm `auto` takes, and why.
#pragma once

#include "bench/common/command.hpp"

namespace trefoil::tool {

/// Adds the subcommand to `app`; its body is set when it was the one given.
void add_explain(CLI::App& app, CommandBody& body);

}  // namespace trefoil::tool
