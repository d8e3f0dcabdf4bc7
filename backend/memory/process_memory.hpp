// SPDX-License-Identifier: BSD-3-Clause
// The memory of another process of this host, by the kernel's copying call: no page is shared and
// nothing is registered.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace trefoil::memory {

/// Copies `bytes` from `address` of `process`. False: errno tells why not (EPERM: the kernel lets
/// no other process in; ESRCH: it has ended, which was seen). Thread-safe, no allocation.
bool copy_from_process(pid_t process, void* target, std::uint64_t address, std::size_t bytes);

}  // namespace trefoil::memory
