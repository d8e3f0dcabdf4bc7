// SPDX-License-Identifier: BSD-3-Clause
// The sweep of /dev/shm for UCX's segments.
#include "backend/ucx/leftovers.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string_view>

#include "backend/system/unused_file.hpp"

namespace trefoil::ucx {

void remove_unused_segments() noexcept {
    const auto close_directory = [](DIR* directory) { closedir(directory); };
    const std::unique_ptr<DIR, decltype(close_directory)> directory(opendir("/dev/shm"),
                                                                    close_directory);
    if (!directory) {
        return;
    }
    const int folder = dirfd(directory.get());
    while (const dirent* entry = readdir(directory.get())) {
        struct stat status {};
        if (std::string_view(entry->d_name).starts_with("ucx_shm_posix_") &&
            fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode) && status.st_uid == getuid() &&
            is_unused(folder, entry->d_name)) {
            unlinkat(folder, entry->d_name, 0);
        }
    }
}

}  // namespace trefoil::ucx
