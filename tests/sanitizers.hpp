// SPDX-License-Identifier: BSD-3-Clause
// Whether tests run under a sanitizer, for those that look at the memory of the process, or take
// too long there.
#pragma once

namespace trefoil::test {

/// AddressSanitizer or ThreadSanitizer: all is slower, and what is freed is kept for a while.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

/// Under it a process that was forked starts no threads.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool under_thread_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool under_thread_sanitizer = __has_feature(thread_sanitizer);
#else
inline constexpr bool under_thread_sanitizer = false;
#endif

}  // namespace trefoil::test
