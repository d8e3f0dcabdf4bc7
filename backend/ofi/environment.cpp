// SPDX-License-Identifier: BSD-3-Clause
// Defaults for libfabric's variables, and the sweep of /dev/shm.
#include "backend/ofi/environment.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "backend/system/unused_file.hpp"

namespace trefoil::ofi {

namespace {

// Takes a decimal number and the character after it (0: none) off the front of `text`.
std::optional<long> take_number(std::string_view& text, char after) {
    long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (after != 0) {
        if (text.empty() || text.front() != after) {
            return std::nullopt;
        }
        text.remove_prefix(1);
    }
    return value;
}

// The shm provider calls a region "<process>:<user>:<number>", and a mapping for one message that
// with "_<message>" behind. Returns the process if the name is of this kind and of this user.
std::optional<pid_t> owner_of(std::string_view name) {
    const auto process = take_number(name, ':');
    const auto user = process ? take_number(name, ':') : std::nullopt;
    const auto number = user ? take_number(name, 0) : std::nullopt;
    if (!number || static_cast<uid_t>(*user) != getuid() || *process == 0) {
        return std::nullopt;
    }
    if (!name.empty() && name.front() == '_') {
        name.remove_prefix(1);
        if (!take_number(name, 0)) {
            return std::nullopt;
        }
    }
    return name.empty() ? std::optional(static_cast<pid_t>(*process)) : std::nullopt;
}

bool is_dead(pid_t process) {
    return kill(process, 0) != 0 && errno == ESRCH;
}

/// Neither ended nor stopped.
bool runs(pid_t process) {
    char path[32];
    std::snprintf(path, sizeof path, "/proc/%d/stat", process);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    char text[256] = {};
    const ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) {
        close(file);
    }
    // "4711 (name) S ...": the name may have brackets, too.
    const std::string_view all(text, static_cast<std::size_t>(std::max<ssize_t>(0, length)));
    const std::size_t name_end = all.rfind(')');
    return name_end != std::string_view::npos && name_end + 2 < all.size() &&
           std::string_view("ZXTt").find(all[name_end + 2]) == std::string_view::npos;
}

/// This user's, if `gone` says so of their folder, name and process.
template <typename Gone>
void remove_regions(Gone&& gone) noexcept {
    const auto close_directory = [](DIR* directory) { closedir(directory); };
    const std::unique_ptr<DIR, decltype(close_directory)> directory(opendir("/dev/shm"),
                                                                    close_directory);
    if (!directory) {
        return;
    }
    const int folder = dirfd(directory.get());
    while (const dirent* entry = readdir(directory.get())) {
        const auto owner = owner_of(entry->d_name);
        struct stat status {};
        if (owner && fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode) && status.st_uid == getuid() &&
            gone(folder, entry->d_name, *owner)) {
            unlinkat(folder, entry->d_name, 0);
        }
    }
}

}  // namespace

void prepare_environment() {
    static std::once_flag once;
    std::call_once(once, [] {
        // An rxm endpoint allocates thousands of buffers for two-sided messages, which puts do not
        // use: 71 MB with the default of 16 KiB, 6 MB with this.
        setenv("FI_OFI_RXM_BUFFER_SIZE", "256", 0);
    });
}

// Processes of other containers look dead from here, but what they use is in use.
void remove_stale_regions() noexcept {
    remove_regions([](int folder, const char* name, pid_t owner) {
        return is_dead(owner) && is_unused(folder, name);
    });
}

void remove_regions_of(int process) noexcept {
    if (!runs(process)) {  // its number may have been given again
        remove_regions([process](int, const char*, pid_t owner) { return owner == process; });
    }
}

void remove_region_at(std::string_view address) noexcept {
    constexpr std::string_view scheme = "fi_shm://";
    if (!address.starts_with(scheme)) {
        return;
    }
    std::string_view region = address.substr(scheme.size());
    region = region.substr(0, region.find('\0'));
    const auto process = owner_of(region);
    if (process && !runs(*process)) {
        remove_regions([region](int, const char* file, pid_t) {
            const std::string_view name = file;
            return name.starts_with(region) &&
                   (name.size() == region.size() || name[region.size()] == '_');
        });
    }
}

}  // namespace trefoil::ofi
