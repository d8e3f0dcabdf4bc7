// SPDX-License-Identifier: BSD-3-Clause
// Scripts by which shells complete the command's words.
#pragma once

#include <string>
#include <vector>

#include "bench/manual/description.hpp"

namespace trefoil::tool {

/// Pure. Subcommands, options and values that are one of a few; where none fits, files.
std::string bash_completion(const std::vector<CommandText>& all);
std::string zsh_completion(const std::vector<CommandText>& all);
std::string fish_completion(const std::vector<CommandText>& all);

}  // namespace trefoil::tool
