// SPDX-License-Identifier: BSD-3-Clause
// How far apart lies what different cores write.
#pragma once

#include <cstddef>

namespace trefoil {

// x86 has lines of 64 bytes and fetches them in pairs. Arm's are of 64 or 128 bytes, but A64FX's of
// 256, and what is compiled for one runs on all.
#if defined(__aarch64__)
inline constexpr std::size_t cache_line = 256;
inline constexpr std::size_t cache_lines_apart = 256;
#else
inline constexpr std::size_t cache_line = 64;
inline constexpr std::size_t cache_lines_apart = 128;
#endif

}  // namespace trefoil
