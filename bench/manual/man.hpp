// SPDX-License-Identifier: BSD-3-Clause
// Manual pages, in the language of man(7).
#pragma once

#include <string>
#include <vector>

#include "bench/manual/description.hpp"

namespace trefoil::tool {

/// The page of `command`, one of `all`. Pure; `version` is "trefoil 0.1.0".
std::string man_page(const CommandText& command, const std::vector<CommandText>& all,
                     const std::string& version);

}  // namespace trefoil::tool
