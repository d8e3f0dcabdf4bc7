// SPDX-License-Identifier: BSD-3-Clause
// Asking kill() whether a process is there, and /proc/PID/stat how it is.
#include "topo/process_state.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace trefoil {

namespace {

/// Of a thread; a process's is that of its main thread. The letter is 0 where it cannot be seen.
struct Stat {
    static constexpr unsigned long exiting = 4;  ///< PF_EXITING of the kernel

    char letter = '\0';
    bool missing = false;  ///< no such file: where its folder was seen, it has ended meanwhile
    unsigned long flags = 0;
    unsigned long long started = 0;

    /// One that is ending has no memory any more, though it may take long to give it all back.
    bool lives() const {
        return letter != '\0' && letter != 'Z' && letter != 'X' && (flags & exiting) == 0;
    }
};

Stat read_stat(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    Stat stat;
    char text[512] = {};
    const ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    stat.missing = length < 0 && (errno == ENOENT || errno == ESRCH);
    if (file >= 0) {
        close(file);
    }
    // "4711 (name) S ...": the name may have blanks and brackets, too.
    const std::string_view all(text, static_cast<std::size_t>(std::max<ssize_t>(0, length)));
    const std::size_t name_end = all.rfind(')');
    if (name_end == std::string_view::npos || name_end + 2 >= all.size()) {
        return stat;
    }
    // Fields 3 (state), 9 (flags) and 22 (start).
    const int found =
        std::sscanf(text + name_end + 2,
                    "%c %*s %*s %*s %*s %*s %lu %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                    "%llu",
                    &stat.letter, &stat.flags, &stat.started);
    const bool made_up = stat.letter < 'A';  // by an emulator of a processor
    return found == 3 && !made_up ? stat : Stat{};
}

/// Whether /proc is there, and shows the process namespace that this process's number is of.
bool proc_is_of_this_namespace() {
    char number[16] = {};
    const ssize_t length = readlink("/proc/self", number, sizeof number);
    int self = 0;
    return length > 0 && std::from_chars(number, number + length, self).ec == std::errc() &&
           self == getpid();
}

/// Whether a process has this number, be it one that has ended and that nobody has waited for.
bool has_number(int pid) {
    return kill(pid, 0) == 0 || errno != ESRCH;
}

/// The number of a thread of the process that lives; 0: it has none; -1: they cannot be seen.
int find_living_thread(int pid) {
    char path[48];
    std::snprintf(path, sizeof path, "/proc/%d/task", pid);
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int living = 0;
    alignas(dirent64) char entries[2048];
    ssize_t length = -1;
    bool all_seen = true;
    while (living == 0 && folder >= 0 &&
           (length = getdents64(folder, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; living == 0 && at < length;) {
            const auto* const entry = reinterpret_cast<const dirent64*>(entries + at);
            at += entry->d_reclen;
            int thread = 0;
            std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), thread);
            if (thread > 0) {  // not "." and ".."
                std::snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, thread);
                const Stat stat = read_stat(path);
                living = stat.lives() ? thread : 0;
                all_seen = all_seen && (stat.letter != '\0' || stat.missing);
            }
        }
    }
    if (folder >= 0) {
        close(folder);
    }
    return living == 0 && (length < 0 || !all_seen) ? -1 : living;
}

}  // namespace

ProcessState process_state(int pid, std::uint64_t started) noexcept {
    using Life = ProcessState::Life;
    if (pid <= 0) {  // kill() would mean groups
        return {};
    }
    // No file tells of an end: /proc may be missing, be another namespace's, or hide processes.
    if (!has_number(pid)) {
        return {Life::ended, 0};
    }
    if (!proc_is_of_this_namespace()) {
        return {};
    }
    char path[32];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const Stat stat = read_stat(path);
    if (stat.letter == '\0') {  // or it has ended since it was asked for
        return {has_number(pid) ? Life::unknown : Life::ended, 0};
    }
    // A main thread may end before the others.
    const bool another = started != 0 && stat.started != started;
    int living = another || stat.lives() ? pid : find_living_thread(pid);
    if (living == 0) {  // or the last one that was seen had just begun another
        living = find_living_thread(pid);
    }
    const bool stopped = stat.letter == 'T' || stat.letter == 't';
    const bool ended = another || living == 0 || (living < 0 && !has_number(pid));
    return {ended        ? Life::ended
            : living < 0 ? Life::unknown
            : stopped    ? Life::stopped
                         : Life::runs,
            stat.started};
}

int living_thread(int pid) noexcept {
    char path[32];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const int living = read_stat(path).lives() ? pid : find_living_thread(pid);
    return living > 0 ? living : pid;
}

}  // namespace trefoil
