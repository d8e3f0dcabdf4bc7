// SPDX-License-Identifier: BSD-3-Clause
// Warnings about the environment, where no communicator gives them.
#pragma once

#include <fmt/core.h>

#include "comm/setup/environment.hpp"

namespace trefoil::tool {

/// A misspelt variable is ignored, and the answer is then that of another question.
inline void warn_of_unknown_variables() {
    for (const std::string& message : unknown_variables()) {
        fmt::print(stderr, "trefoil: {}\n", message);
    }
}

}  // namespace trefoil::tool
