// SPDX-License-Identifier: BSD-3-Clause
// Files that a job reads by a name from its environment.
#pragma once

#include <string>

namespace trefoil {

/// All of a regular file of 16 MiB at most, so that this ends whatever the name leads to: a pipe or
/// a device may never. `kind` says in messages what it is: "tuning file". Throws Error(not_found)
/// where it cannot be read, Error(invalid_argument) for another kind of file and a longer one.
std::string read_regular_file(const std::string& path, const std::string& kind);

}  // namespace trefoil
