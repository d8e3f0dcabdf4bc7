// SPDX-License-Identifier: BSD-3-Clause
// What tells this process, and this running kernel, from others: descriptions of memory say whose
// they are.
#pragma once

#include <cstdint>

namespace trefoil::memory {

/// Random, one per process (a child after fork() has its parent's): tells equal numbers of
/// namespaces apart.
std::uint64_t this_process();

/// Throws Error(unsupported) where `boot` is not this kernel's, for memory of process `maker`.
void require_this_host(const char* boot, int maker);

}  // namespace trefoil::memory
