// SPDX-License-Identifier: BSD-3-Clause
// process_vm_readv and process_vm_writev, which may copy less than they are asked for.
#include "backend/memory/process_memory.hpp"

#include <sys/uio.h>

#include <cerrno>

namespace trefoil::memory {

namespace {

/// Both calls have this shape. Ends: each round copies something or is the last.
template <typename Copy>
bool copy_all(Copy copy, pid_t process, std::byte* local, std::uint64_t address,
              std::size_t bytes) {
    while (bytes > 0) {
        const iovec here{local, bytes};
        const iovec there{reinterpret_cast<void*>(address), bytes};
        const ssize_t copied = copy(process, &here, 1, &there, 1, 0);
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
    return copy_all(process_vm_readv, process, static_cast<std::byte*>(target), address, bytes);
}

bool copy_to_process(pid_t process, std::uint64_t address, const void* source, std::size_t bytes) {
    auto* const from = static_cast<std::byte*>(const_cast<void*>(source));  // only read
    return copy_all(process_vm_writev, process, from, address, bytes);
}

}  // namespace trefoil::memory
