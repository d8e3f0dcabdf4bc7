// SPDX-License-Identifier: BSD-3-Clause
// The environment, where it can be trusted.
#include "topo/variable.hpp"

#include <sys/auxv.h>

#include <cstdlib>

namespace trefoil {

std::optional<std::string> environment_variable(const char* name) {
    const char* const value = secure_getenv(name);
    if (value == nullptr || *value == '\0') {
        return std::nullopt;
    }
    return std::string(value);
}

bool ignores_environment() {
    return getauxval(AT_SECURE) != 0;
}

}  // namespace trefoil
