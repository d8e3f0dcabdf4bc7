// SPDX-License-Identifier: BSD-3-Clause
// Settings of libraries below that they read from the environment alone.
#pragma once

#include <string>

namespace trefoil {

/// Sets a variable that is not set, while other threads may read the environment: what they read
/// stays as it is for ever, where setenv() may free it. A variable that another thread sets at the
/// same time may be lost. Throws bad_alloc.
void add_to_environment(const std::string& name, const std::string& value);

}  // namespace trefoil
