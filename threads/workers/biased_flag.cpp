// SPDX-License-Identifier: BSD-3-Clause
// The kernel's barrier for all threads of a process.
#include "threads/workers/biased_flag.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#if __has_include(<sys/single_threaded.h>)  // glibc 2.32
#include <sys/single_threaded.h>
#define TREFOIL_TELLS_SINGLE_THREADED
#endif

#include <chrono>
#include <thread>

namespace trefoil {

namespace {

constexpr std::chrono::milliseconds longest_way_of_a_store{1};

int membarrier(int command) noexcept {
    return static_cast<int>(syscall(SYS_membarrier, command, 0, 0));
}

/// A process must register first. Where it has several threads the kernel takes some 10 to 20 ms
/// for that, so it is done before there are any, or when the barrier is needed: most communicators
/// never need it.
void register_process() noexcept {
    membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

#ifdef TREFOIL_TELLS_SINGLE_THREADED
[[gnu::constructor]] void register_early() noexcept {
    if (__libc_single_threaded != 0) {
        register_process();
    }
}
#endif

}  // namespace

bool has_process_barrier() noexcept {
    static const int commands = membarrier(MEMBARRIER_CMD_QUERY);
    return commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
}

void process_barrier() noexcept {
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) {
        return;
    }
    register_process();
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) {
        // The program has forbidden it. No processor keeps a store to itself so long.
        std::this_thread::sleep_for(longest_way_of_a_store);
    }
}

}  // namespace trefoil
