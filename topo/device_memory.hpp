// SPDX-License-Identifier: BSD-3-Clause
// Memory of accelerators, which processors cannot read: told by the accelerator's own runtime.
#pragma once

#include <atomic>

namespace trefoil {

/// Looks whether CUDA or HIP has been loaded into this process; nothing is loaded for it. Costs
/// next to nothing unless libraries were loaded since the last look. Thread-safe.
void look_for_device_runtimes();

namespace detail {
inline std::atomic<bool> device_runtime_found{false};
const char* ask_device_runtimes(const void* address);
[[noreturn]] void refuse_device_memory(const void* address, const char* what, const char* runtime);
}  // namespace detail

/// Who says that the address is a device's: "CUDA", "HIP"; null: it is the host's, or nobody can
/// tell. Memory that moves between both by itself (managed) is the host's. One branch where no
/// runtime was found. Thread-safe.
inline const char* device_of(const void* address) {
    return detail::device_runtime_found.load(std::memory_order_acquire)
               ? detail::ask_device_runtimes(address)
               : nullptr;
}

/// Throws Error(unsupported) when the address is a device's. `what` names it: "send buffer".
inline void require_host_memory(const void* address, const char* what) {
    if (const char* const runtime = device_of(address); runtime != nullptr) {
        detail::refuse_device_memory(address, what, runtime);
    }
}

}  // namespace trefoil
