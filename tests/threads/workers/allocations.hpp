// SPDX-License-Identifier: BSD-3-Clause
// Counts allocations, for tests of code that must not allocate. Linking allocations.cpp replaces
// the program's operator new.
#pragma once

/// How often the calling thread has allocated since it started.
int allocations_of_this_thread();

/// How often all threads of the process have allocated.
long allocations_of_all_threads();
