// SPDX-License-Identifier: BSD-3-Clause
// Counts locks taken and system calls made, for tests of code that should do without. Linking
// kernel_calls.cpp puts a counter in front of pthread_mutex_lock.
#pragma once

namespace trefoil::test {

/// ThreadSanitizer must see the locks itself.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool counts_locks = false;
#else
inline constexpr bool counts_locks = true;
#endif
/// How often all threads of the process have locked a mutex.
long locks_of_all_threads();

/// System calls of one thread.
struct SystemCalls {
    long waiting = 0;  ///< sched_yield, futex: what a thread does that waits for long
    long other = 0;
};

/// From now on the calling thread's system calls are counted: a filter of the kernel's turns each
/// into a signal whose handler counts it and makes it. For the rest of the thread's life, which
/// must not start threads any more. False: this system does not let us.
bool count_system_calls();
/// Of the calling thread since count_system_calls().
SystemCalls system_calls();

}  // namespace trefoil::test
