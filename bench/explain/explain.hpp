// SPDX-License-Identifier: BSD-3-Clause
// `trefoil explain`: which algorithm `auto` takes, and why.
#pragma once

#include "bench/common/command.hpp"

namespace trefoil::tool {

/// Adds the subcommand to `app`; the action is set when it was the one given.
void add_explain(CLI::App& app, Action& action);

}  // namespace trefoil::tool
