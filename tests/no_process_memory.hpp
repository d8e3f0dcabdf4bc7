// SPDX-License-Identifier: BSD-3-Clause
// A process to which the kernel refuses system calls, as reads of other processes' memory in many
// containers.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace trefoil::test {

/// From now on the kernel refuses these two system calls to this process, and to those that it
/// starts.
inline bool forbid_system_calls(std::uint32_t one, std::uint32_t other) {
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{sizeof rules / sizeof *rules, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// To touch the memory of others.
inline bool forbid_access_to_other_processes() {
    return forbid_system_calls(SYS_process_vm_readv, SYS_process_vm_writev);
}

}  // namespace trefoil::test
