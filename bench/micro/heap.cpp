// SPDX-License-Identifier: BSD-3-Clause
// An operator new that counts bytes, for the memory that builders take.
#include "bench/micro/heap.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
// Relaxed: only sums, and read where one thread runs.
std::atomic<std::size_t> in_use{0};
std::atomic<std::size_t> peak{0};

void* give_out(std::size_t bytes) {
    void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
    if (memory != nullptr) {
        const std::size_t size = malloc_usable_size(memory);
        const std::size_t now = in_use.fetch_add(size, std::memory_order_relaxed) + size;
        if (now > peak.load(std::memory_order_relaxed)) {
            peak.store(now, std::memory_order_relaxed);
        }
    }
    return memory;
}

void give_back(void* memory) {
    in_use.fetch_sub(malloc_usable_size(memory), std::memory_order_relaxed);
    std::free(memory);
}
}  // namespace

namespace trefoil::micro {

std::size_t heap_in_use() {
    return in_use.load(std::memory_order_relaxed);
}
std::size_t heap_peak() {
    return peak.load(std::memory_order_relaxed);
}
void reset_heap_peak() {
    peak.store(heap_in_use(), std::memory_order_relaxed);
}

}  // namespace trefoil::micro

void* operator new(std::size_t bytes) {
    void* const memory = give_out(bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}
// A sanitizer brings one of its own, whose memory ours could not give back.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return give_out(bytes);
}
void operator delete(void* memory) noexcept {
    give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    give_back(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    give_back(memory);
}
