// SPDX-License-Identifier: BSD-3-Clause
// process_vm_readv, which may copy less than it is asked for.
#include "backend/memory/process_memory.hpp"

#include <sys/uio.h>

#include <cerrno>

#include "topo/process_state.hpp"

namespace trefoil::memory {

namespace {

/// By the number of any thread of the process.
bool copy_by(pid_t thread, void* target, std::uint64_t address, std::size_t bytes) {
    auto* local = static_cast<std::byte*>(target);
    while (bytes > 0) {  // each round copies something or is the last
        const iovec here{local, bytes};
        const iovec there{reinterpret_cast<void*>(address), bytes};
        const ssize_t copied = process_vm_readv(thread, &here, 1, &there, 1, 0);
        if (copied < 0 && errno == EINTR) {
            continue;
        }
        if (copied <= 0) {
            errno = copied == 0 ? EFAULT : errno;
            return false;
        }
        local += copied;
        address += static_cast<std::uint64_t>(copied);
        bytes -= static_cast<std::size_t>(copied);
    }
    return true;
}

}  // namespace

bool copy_from_process(pid_t process, void* target, std::uint64_t address, std::size_t bytes) {
    if (copy_by(process, target, address, bytes)) {
        return true;
    }
    if (errno != ESRCH) {
        return false;
    }
    // The kernel says so of a process whose main thread has ended, too.
    if (copy_by(living_thread(process), target, address, bytes)) {
        return true;
    }
    if (errno == ESRCH && !process_state(process).ended()) {
        errno = EACCES;
    }
    return false;
}

}  // namespace trefoil::memory
