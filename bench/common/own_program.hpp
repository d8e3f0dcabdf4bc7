// SPDX-License-Identifier: BSD-3-Clause
// Where the program's own file lies: it starts itself again as ranks, and others lie beside it.
#pragma once

#include <sys/auxv.h>

#include <filesystem>
#include <system_error>

namespace trefoil::tool {

/// Without /proc, or with that of other processes, as it was started.
inline std::filesystem::path own_program() {
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error) {
        return path;
    }
    const auto* const started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    return std::filesystem::absolute(started != nullptr ? started : "trefoil");
}

}  // namespace trefoil::tool
