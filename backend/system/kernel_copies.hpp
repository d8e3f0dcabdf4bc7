// SPDX-License-Identifier: BSD-3-Clause
// How fast the kernel copies from one process to another.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

namespace trefoil {

/// One copy, timed; nothing: it failed.
using TimedCopy = std::function<std::optional<std::chrono::nanoseconds>()>;

/// Whether a copy by the kernel takes at most 2.5 times as long as one by the processor. Both take
/// turns, and the shortest time of each counts: whatever else runs can only make one longer. Goes
/// on until neither has become shorter for some turns.
bool kernel_keeps_up(const TimedCopy& kernel, const TimedCopy& processor);

/// The same of process_vm_readv and memcpy: a message through shared memory is copied twice, once
/// on either side, and each waits for the other. A machine with 1.7 gains by one copy, one with 8
/// loses; a bound of 2 was so near to the first that launches came to different ends. Measured once
/// in this process, in about a millisecond, on memory that is in the cache. False where the kernel
/// copies nothing. Any thread.
bool kernel_copies_are_fast();
/// What it has found; nothing: it was not asked in this process yet. Any thread.
std::optional<bool> kernel_copies_known();

}  // namespace trefoil
