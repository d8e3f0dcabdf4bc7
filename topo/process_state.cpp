// SPDX-License-Identifier: BSD-3-Clause
// Reading /proc/PID/stat.
#include "topo/process_state.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>

namespace trefoil {

ProcessState process_state(int pid) noexcept {
    char path[32];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    char text[512] = {};
    if (file < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
        return {'?', 0};
    }
    const ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) {
        close(file);
    }
    // "4711 (name) S ...": the name may have blanks and brackets, too.
    const std::string_view all(text, static_cast<std::size_t>(std::max<ssize_t>(0, length)));
    const std::size_t name_end = all.rfind(')');
    ProcessState state;
    if (name_end == std::string_view::npos || name_end + 2 >= all.size()) {
        return state;
    }
    unsigned long long started = 0;  // field 22; the state is field 3
    const char* const fields = text + name_end + 2;
    if (std::sscanf(fields,
                    "%c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                    "%llu",
                    &state.letter, &started) == 2) {
        state.started = started;
    }
    if (state.letter < 'A') {  // made up by an emulator of a processor
        return {'?', 0};
    }
    return state;
}

}  // namespace trefoil
