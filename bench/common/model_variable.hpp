// SPDX-License-Identifier: BSD-3-Clause
// What the user has said of the cost model.
#pragma once

#include <string>
#include <vector>

namespace trefoil::tool {

/// The names that TREFOIL_MODEL gives a value, such as "rate".
std::vector<std::string> names_in_model_variable();

}  // namespace trefoil::tool
