// SPDX-License-Identifier: BSD-3-Clause
// A child that reads its parent.
#include "backend/system/kernel_access.hpp"

#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace trefoil {

namespace {

/// The child's answer: 0 or an errno, which fits into an exit code. It may call what is safe in a
/// signal handler only, since this process may have threads.
[[noreturn]] void read_parent(pid_t parent, const char* there) {
    char copy = 0;
    const iovec from{const_cast<char*>(there), 1}, to{&copy, 1};
    const ssize_t copied = process_vm_readv(parent, &to, 1, &from, 1, 0);
    _exit(copied == 1 && copy == *there ? 0 : copied < 0 ? errno : EFAULT);
}

/// Empty where the kernel has no such setting, or it is off.
std::string yama_text() {
    int scope = 0;
    std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
    return scope == 0 ? "" : "; kernel.yama.ptrace_scope is " + std::to_string(scope);
}

}  // namespace

std::string why_no_kernel_access() {
    const char here = 't';
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
        read_parent(parent, &here);
    }
    int status = 0;
    pid_t waited = -1;
    while (child > 0 && (waited = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    if (waited != child || !WIFEXITED(status)) {
        return "no other process could be asked";
    }
    const int code = WEXITSTATUS(status);
    return code == 0 ? "" : std::string("process_vm_readv: ") + std::strerror(code) + yama_text();
}

}  // namespace trefoil
