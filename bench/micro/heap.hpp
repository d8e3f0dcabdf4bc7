// SPDX-License-Identifier: BSD-3-Clause
// What operator new has given out in this process, in bytes. Not thread-safe: asked where one
// thread runs.
#pragma once

#include <cstddef>

namespace trefoil::micro {

/// Bytes given out and not returned, as malloc has rounded them.
std::size_t heap_in_use();
/// The most of heap_in_use() since reset_heap_peak().
std::size_t heap_peak();
void reset_heap_peak();

}  // namespace trefoil::micro
