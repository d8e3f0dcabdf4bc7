// SPDX-License-Identifier: BSD-3-Clause
// What compilers call for -fsanitize=thread: here the accesses of the product's files to plain
// memory reach the machine. The sanitizer itself is not linked.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/weak_order/machine.hpp"

namespace {

using trefoil::weak::note_read;
using trefoil::weak::note_write;

void* new_memory(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
    void* const memory = std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    trefoil::weak::forget_plain(memory, bytes);
    return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
    return new_memory(bytes);
}
void* operator new[](std::size_t bytes) {
    return new_memory(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return new_memory(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return new_memory(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

// What belongs together is used by its first byte, as a rule.
#define PLAIN_ACCESS(bytes)                           \
    void __tsan_read##bytes(void* place) {            \
        note_read(place);                             \
    }                                                 \
    void __tsan_write##bytes(void* place) {           \
        note_write(place);                            \
    }                                                 \
    void __tsan_unaligned_read##bytes(void* place) {  \
        note_read(place);                             \
    }                                                 \
    void __tsan_unaligned_write##bytes(void* place) { \
        note_write(place);                            \
    }
// The standard library's own, of shared pointers and of variables that are made once: not watched.
#define LIBRARY_ACCESS(bits)                                                                       \
    std::uint##bits##_t __tsan_atomic##bits##_load(const volatile std::uint##bits##_t* word,       \
                                                   int) {                                          \
        return *word;                                                                              \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile std::uint##bits##_t* word, std::uint##bits##_t next, \
                                     int) {                                                        \
        *word = next;                                                                              \
    }                                                                                              \
    std::uint##bits##_t __tsan_atomic##bits##_exchange(volatile std::uint##bits##_t* word,         \
                                                       std::uint##bits##_t next, int) {            \
        const std::uint##bits##_t old = *word;                                                     \
        *word = next;                                                                              \
        return old;                                                                                \
    }                                                                                              \
    std::uint##bits##_t __tsan_atomic##bits##_fetch_add(volatile std::uint##bits##_t* word,        \
                                                        std::uint##bits##_t more, int) {           \
        const std::uint##bits##_t old = *word;                                                     \
        *word = static_cast<std::uint##bits##_t>(old + more);                                      \
        return old;                                                                                \
    }                                                                                              \
    std::uint##bits##_t __tsan_atomic##bits##_fetch_sub(volatile std::uint##bits##_t* word,        \
                                                        std::uint##bits##_t less, int) {           \
        const std::uint##bits##_t old = *word;                                                     \
        *word = static_cast<std::uint##bits##_t>(old - less);                                      \
        return old;                                                                                \
    }                                                                                              \
    std::uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                \
        volatile std::uint##bits##_t* word, std::uint##bits##_t expected,                          \
        std::uint##bits##_t next, int, int) {                                                      \
        const std::uint##bits##_t old = *word;                                                     \
        *word = old == expected ? next : old;                                                      \
        return old;                                                                                \
    }                                                                                              \
    bool __tsan_atomic##bits##_compare_exchange_strong(volatile std::uint##bits##_t* word,         \
                                                       std::uint##bits##_t* expected,              \
                                                       std::uint##bits##_t next, int, int) {       \
        const std::uint##bits##_t before = *expected;                                              \
        *expected = __tsan_atomic##bits##_compare_exchange_val(word, before, next, 0, 0);          \
        return *expected == before;                                                                \
    }                                                                                              \
    bool __tsan_atomic##bits##_compare_exchange_weak(volatile std::uint##bits##_t* word,           \
                                                     std::uint##bits##_t* expected,                \
                                                     std::uint##bits##_t next, int, int) {         \
        return __tsan_atomic##bits##_compare_exchange_strong(word, expected, next, 0, 0);          \
    }

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_read_range(void* place, std::size_t) {
    note_read(place);
}
void __tsan_write_range(void* place, std::size_t) {
    note_write(place);
}
void* __tsan_memcpy(void* target, const void* source, std::size_t bytes) {
    note_read(source);
    note_write(target);
    return std::memcpy(target, source, bytes);
}
void* __tsan_memmove(void* target, const void* source, std::size_t bytes) {
    note_read(source);
    note_write(target);
    return std::memmove(target, source, bytes);
}
void* __tsan_memset(void* target, int value, std::size_t bytes) {
    note_write(target);
    return std::memset(target, value, bytes);
}
PLAIN_ACCESS(1)
PLAIN_ACCESS(2)
PLAIN_ACCESS(4)
PLAIN_ACCESS(8)
PLAIN_ACCESS(16)
LIBRARY_ACCESS(8)
LIBRARY_ACCESS(32)
LIBRARY_ACCESS(64)
}
