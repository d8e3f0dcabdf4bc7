// SPDX-License-Identifier: BSD-3-Clause
// How the library reads the environment.
#pragma once

#include <optional>
#include <string>

namespace trefoil {

/// Nothing: not set, empty, or not to be trusted, as this program runs with other rights than the
/// user's who started it (set-uid): a variable could make it write files or load libraries. While a
/// communicator is made; no thread may change the environment meanwhile.
std::optional<std::string> environment_variable(const char* name);

/// Whether this program must not trust its environment.
bool ignores_environment();

}  // namespace trefoil
