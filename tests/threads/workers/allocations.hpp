// SPDX-License-Identifier: BSD-3-Clause
// Counts allocations, for tests of code that must not allocate, and lets one fail. Linking
// allocations.cpp replaces the program's operator new.
#pragma once

/// How often the calling thread has allocated since it started.
int allocations_of_this_thread();

/// The calling thread's next allocation but so many throws bad_alloc, and those after it do not.
/// Negative: none does. Returns what was left to go; negative: it has thrown, or was not asked to.
int let_allocation_fail(int after);

/// How often all threads of the process have allocated.
long allocations_of_all_threads();
