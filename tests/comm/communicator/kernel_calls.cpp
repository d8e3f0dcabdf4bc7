// SPDX-License-Identifier: BSD-3-Clause
// The counters. A seccomp filter cannot be taken away again, so it lets those system calls pass
// that come from one instruction, which is the handler's.
#include "kernel_calls.hpp"

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace {
std::atomic<long> locks{0};  // relaxed: a sum
}

#if !defined(__SANITIZE_THREAD__)
extern "C" [[gnu::visibility("default")]] int pthread_mutex_lock(pthread_mutex_t* mutex) {
    using Lock = int (*)(pthread_mutex_t*);
    static std::atomic<Lock> real{nullptr};  // relaxed: every thread finds the same
    Lock lock = real.load(std::memory_order_relaxed);
    if (lock == nullptr) {
        lock = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
        real.store(lock, std::memory_order_relaxed);
    }
    locks.fetch_add(1, std::memory_order_relaxed);
    return lock(mutex);
}
#endif

namespace trefoil::test {

long locks_of_all_threads() {
    return locks.load(std::memory_order_relaxed);
}

// ThreadSanitizer makes calls of its own.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

// The kernel's registers for a system call, and the address behind the instruction, which is what
// a filter sees.
asm(R"(
    .text
    .type trefoil_test_call, @function
trefoil_test_call:
    mov %rdi, %rax
    mov %rsi, %rdi
    mov %rdx, %rsi
    mov %rcx, %rdx
    mov %r8, %r10
    mov %r9, %r8
    mov 8(%rsp), %r9
    syscall
trefoil_test_called:
    ret
)");
extern "C" long trefoil_test_call(long number, long a, long b, long c, long d, long e, long f);
extern "C" const char trefoil_test_called[];

namespace {

thread_local SystemCalls calls;

void count_and_make(int, siginfo_t* info, void* context) {
    greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const bool waits = info->si_syscall == SYS_sched_yield || info->si_syscall == SYS_futex;
    ++(waits ? calls.waiting : calls.other);
    registers[REG_RAX] = trefoil_test_call(info->si_syscall, registers[REG_RDI], registers[REG_RSI],
                                           registers[REG_RDX], registers[REG_R10],
                                           registers[REG_R8], registers[REG_R9]);
}

}  // namespace

bool count_system_calls() {
    struct sigaction action {};
    action.sa_sigaction = &count_and_make;
    action.sa_flags = SA_SIGINFO;
    if (sigaction(SIGSYS, &action, nullptr) != 0) {
        return false;
    }
    const auto passed = reinterpret_cast<std::uintptr_t>(trefoil_test_called);
    const auto field = [](std::size_t offset) {
        return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
    };
    // How a handler returns and a thread ends cannot be done on their behalf.
    sock_filter filter[] = {
        field(offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 5, 0),
        field(offsetof(seccomp_data, instruction_pointer)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(passed), 0, 2),
        field(offsetof(seccomp_data, instruction_pointer) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(passed >> 32), 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{sizeof filter / sizeof filter[0], filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

SystemCalls system_calls() {
    return calls;
}

#else

bool count_system_calls() {
    return false;
}
SystemCalls system_calls() {
    return {};
}

#endif

}  // namespace trefoil::test
