// SPDX-License-Identifier: BSD-3-Clause
// Signals, limits of this process, and a file system without room.
#include "strike.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace trefoil::test {

namespace {

void limit(__rlimit_resource resource, rlim_t most) {
    const rlimit both{most, most};
    if (setrlimit(resource, &both) != 0) {
        std::perror("setrlimit");
    }
}

/// The first number that is free: limits are compared with numbers, not with how many are open.
rlim_t first_free_descriptor() {
    const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        close(file);
    }
    return file >= 0 ? static_cast<rlim_t>(file) : 0;
}

rlim_t address_space() {
    unsigned long pages = 0;
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file != nullptr) {
        if (std::fscanf(file, "%lu", &pages) != 1) {
            pages = 0;
        }
        std::fclose(file);
    }
    return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

/// The superuser may lock memory whatever the limit is, so it gives that up.
void lock_no_memory() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> data{};
    syscall(SYS_capget, &header, data.data());
    for (auto* const set : {&data[0].effective, &data[0].permitted}) {
        *set &= ~(1U << CAP_IPC_LOCK);
    }
    if (syscall(SYS_capset, &header, data.data()) != 0) {
        std::perror("capset");
    }
    limit(RLIMIT_MEMLOCK, 0);
}

/// The driver removes the file; /dev/shm is the job's own.
void fill_shared_memory() {
    const std::string path = "/dev/shm/filled-by-" + std::to_string(getpid());
    const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0) {
        std::perror(path.c_str());
        return;
    }
    for (off_t piece = off_t{64} << 20, end = 0; piece >= 4096;) {
        if (posix_fallocate(file, end, piece) == 0) {
            end += piece;
        } else {
            piece /= 2;
        }
    }
    close(file);
}

}  // namespace

double monotonic_seconds() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
}

void report(const char* word, const std::string& rest) {
    std::printf("%s %.4f %s\n", word, monotonic_seconds(), rest.c_str());
    std::fflush(stdout);
}

void strike(const Fault& fault) {
    report("fault", fault.kind);
    if (fault.kind == "KILL" || fault.kind == "TERM") {
        kill(getpid(), fault.kind == "KILL" ? SIGKILL : SIGTERM);
    } else if (fault.kind.starts_with("STOP")) {
        kill(getpid(), SIGSTOP);
    } else if (fault.kind == "exit") {
        _exit(0);
    } else if (fault.kind == "shm") {
        fill_shared_memory();
    } else if (fault.kind == "files") {
        limit(RLIMIT_NOFILE, first_free_descriptor() + static_cast<rlim_t>(fault.amount));
    } else if (fault.kind == "memlock") {
        lock_no_memory();
    } else if (fault.kind == "space") {
        limit(RLIMIT_AS, address_space() + (static_cast<rlim_t>(fault.amount) << 10));
    }
}

}  // namespace trefoil::test
