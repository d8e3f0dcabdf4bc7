// SPDX-License-Identifier: BSD-3-Clause
// Asking the kernel by a lease, which it grants for files that nobody else uses only.
#include "backend/system/unused_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace trefoil {

bool is_unused(int folder, const char* name) noexcept {
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) {
        return false;
    }
    // Should somebody open it right now, the kernel tells by a signal that is ignored as a rule.
    const bool granted =
        fcntl(file, F_SETSIG, SIGURG) == 0 && fcntl(file, F_SETLEASE, F_WRLCK) == 0;
    close(file);  // and the lease ends
    return granted;
}

}  // namespace trefoil
