// SPDX-License-Identifier: BSD-3-Clause
// An operator new that counts. The array forms of the standard library end up here; the nothrow
// form stands here too, since a sanitizer brings one of its own that does not. In a file of its
// own, because inlined into callers it looks like a mismatch to gcc.
#include "tests/threads/workers/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

namespace {
thread_local int allocations = 0;
thread_local int until_failure = -1;
std::atomic<long> all_allocations{0};
}  // namespace

int allocations_of_this_thread() {
    return allocations;
}

int let_allocation_fail(int after) {
    return std::exchange(until_failure, after);
}

long allocations_of_all_threads() {
    return all_allocations.load(std::memory_order_relaxed);
}

void* operator new(std::size_t bytes) {
    ++allocations;
    all_allocations.fetch_add(1, std::memory_order_relaxed);
    const bool fails = until_failure >= 0 && until_failure-- == 0;
    void* const memory = fails ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    ++allocations;
    all_allocations.fetch_add(1, std::memory_order_relaxed);
    return std::malloc(bytes == 0 ? 1 : bytes);
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
