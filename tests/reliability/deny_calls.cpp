// SPDX-License-Identifier: BSD-3-Clause
// Starts a program to which the kernel denies some system calls, as container engines do.
//
// Usage: deny_calls ERRNO CALL[,CALL...] PROGRAM [ARGUMENTS...]; ERRNO is a number. "socket:16" is
// the call with that first argument alone. A name that this machine's kernel does not have is left
// out. Exit code 77 where filters cannot be set.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/denied_calls.hpp"

namespace {

const std::map<std::string, std::uint32_t> calls{
    {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev},
    {"membarrier", SYS_membarrier},
    {"mbind", SYS_mbind},
    {"get_mempolicy", SYS_get_mempolicy},
    {"set_mempolicy", SYS_set_mempolicy},
    {"move_pages", SYS_move_pages},
    {"memfd_create", SYS_memfd_create},
    {"io_uring_setup", SYS_io_uring_setup},
    {"perf_event_open", SYS_perf_event_open},
    {"sched_setaffinity", SYS_sched_setaffinity},
    {"sched_getaffinity", SYS_sched_getaffinity},
    {"ptrace", SYS_ptrace},
    {"kcmp", SYS_kcmp},
    {"pidfd_open", SYS_pidfd_open},
    {"eventfd2", SYS_eventfd2},
    {"getrandom", SYS_getrandom},
    {"prlimit64", SYS_prlimit64},
    {"sysinfo", SYS_sysinfo},
    {"statx", SYS_statx},
    {"mlock", SYS_mlock},
    {"mlock2", SYS_mlock2},
    {"madvise", SYS_madvise},
    {"shmget", SYS_shmget},
    {"socket", SYS_socket},
    {"clone3", SYS_clone3},
    {"rseq", SYS_rseq},
    {"close_range", SYS_close_range},
    {"userfaultfd", SYS_userfaultfd},
};

std::vector<trefoil::test::DeniedCall> chosen(const std::string& names) {
    std::vector<trefoil::test::DeniedCall> result;
    std::istringstream list(names);
    for (std::string name; std::getline(list, name, ',');) {
        const std::size_t colon = name.find(':');
        const auto call = calls.find(name.substr(0, colon));
        if (call == calls.end()) {
            std::fprintf(stderr, "deny_calls: no call \"%s\" in its table\n", name.c_str());
            std::exit(2);
        }
        result.push_back({call->second});
        if (colon != std::string::npos) {
            result.back().first_argument =
                static_cast<std::uint32_t>(std::atoi(name.c_str() + colon + 1));
        }
    }
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: %s ERRNO CALL[,CALL...] PROGRAM [ARGUMENTS...]\n", argv[0]);
        return 2;
    }
    if (!trefoil::test::forbid_system_calls(chosen(argv[2]), std::atoi(argv[1]))) {
        std::perror("deny_calls: no filter");
        return 77;
    }
    execvp(argv[3], argv + 3);
    std::perror(argv[3]);
    return 127;
}
