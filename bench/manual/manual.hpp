// SPDX-License-Identifier: BSD-3-Clause
// `trefoil manual`: writes manual pages, and completion for shells, from what the parser knows.
#pragma once

#include <string>

#include "bench/common/command.hpp"

namespace trefoil::tool {

/// To be added last: it tells of all that `app` has when it runs. `version` is "trefoil 0.1.0".
void add_manual(CLI::App& app, const std::string& version, CommandBody& body);

}  // namespace trefoil::tool
