// SPDX-License-Identifier: BSD-3-Clause
// Whether memory that a user hands over can be written.
#pragma once

#include <cstddef>

namespace trefoil {

/// Throws Error(invalid_argument), which says what is wrong, unless each of `bytes` (at least one)
/// from `data` is mapped and writable. Touches nothing: it reads the kernel's list of mappings,
/// some microseconds per hundred of them. Thread-safe.
void require_writable_memory(const void* data, std::size_t bytes);

}  // namespace trefoil
