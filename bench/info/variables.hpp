// SPDX-License-Identifier: BSD-3-Clause
// The environment variables alone: as text, and as a page of the documentation.
#pragma once

#include <string>

namespace trefoil::tool {

/// The page docs/environment.md. Does not depend on the build, the machine or the environment.
std::string variables_page();

}  // namespace trefoil::tool
