// SPDX-License-Identifier: BSD-3-Clause
// The sweep of /dev/shm. Whether a file is used, the kernel tells by a lease, which it grants for
// files that nobody else uses only.
#include "backend/system/shared_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "topo/descriptor.hpp"

namespace trefoil {

bool is_unused(int folder, const char* name) noexcept {
    const Descriptor file(openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    // Should somebody open it right now, the kernel tells by a signal that is ignored as a rule.
    return file.is_open() && fcntl(file.number(), F_SETSIG, SIGURG) == 0 &&
           fcntl(file.number(), F_SETLEASE, F_WRLCK) == 0;  // it ends here
}

void remove_shared_files(
    const std::function<bool(int folder, const char* name)>& left_behind) noexcept {
    const auto close_directory = [](DIR* directory) { closedir(directory); };
    const std::unique_ptr<DIR, decltype(close_directory)> directory(opendir("/dev/shm"),
                                                                    close_directory);
    if (!directory) {
        return;
    }
    const int folder = dirfd(directory.get());
    while (const dirent* entry = readdir(directory.get())) {
        const char* const name = entry->d_name;
        struct stat status {};
        if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
            status.st_uid == getuid() && left_behind(folder, name)) {
            unlinkat(folder, name, 0);
        }
    }
}

}  // namespace trefoil
