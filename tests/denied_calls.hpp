// SPDX-License-Identifier: BSD-3-Clause
// A thread or process to which the kernel refuses system calls, as reads of other processes' memory
// in many containers.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace trefoil::test {

struct DeniedCall {
    std::uint32_t number;
    std::optional<std::uint32_t> first_argument = std::nullopt;  ///< with this one alone
};

/// From now on the kernel refuses these system calls to this thread, and to the threads and
/// processes that it starts.
inline bool forbid_system_calls(const std::vector<DeniedCall>& calls, int error = EPERM) {
    const auto load = [](std::size_t offset) -> sock_filter {
        return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
    };
    // Goes on with the next rule if the loaded word is `value`, else skips some.
    const auto only_if = [](std::uint32_t value, std::uint8_t skipped) -> sock_filter {
        return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped);
    };
    std::vector<sock_filter> rules;
    for (const DeniedCall& call : calls) {
        rules.push_back(load(offsetof(seccomp_data, nr)));
        rules.push_back(only_if(call.number, call.first_argument ? 3 : 1));
        if (call.first_argument) {
            rules.push_back(load(offsetof(seccomp_data, args)));  // its low half comes first
            rules.push_back(only_if(*call.first_argument, 1));
        }
        rules.push_back(
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)));
    }
    rules.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog program{static_cast<unsigned short>(rules.size()), rules.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// To touch the memory of others.
inline bool forbid_access_to_other_processes() {
    return forbid_system_calls({{SYS_process_vm_readv}, {SYS_process_vm_writev}});
}

}  // namespace trefoil::test
