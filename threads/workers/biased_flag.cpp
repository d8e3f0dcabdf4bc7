// SPDX-License-Identifier: BSD-3-Clause
// The kernel's barrier for all threads of a process.
#include "threads/workers/biased_flag.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace trefoil {

namespace {

constexpr std::chrono::milliseconds longest_way_of_a_store{1};

bool membarrier(int command) noexcept {
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

}  // namespace

bool has_process_barrier() noexcept {
    static const bool has = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
                            membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    return has;
}

void process_barrier() noexcept {
    if (!membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) {
        // The program has forbidden it meanwhile. No processor keeps a store to itself so long.
        std::this_thread::sleep_for(longest_way_of_a_store);
    }
}

}  // namespace trefoil
