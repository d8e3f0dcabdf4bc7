// SPDX-License-Identifier: BSD-3-Clause
// Xor loops by vectors of 16, 32 and 64 bytes, four to a turn.
#include "bench/micro/streams.hpp"

#include <cstdint>

namespace trefoil::micro {

namespace {

/// As many bytes as the instructions take.
template <std::size_t bytes>
struct Lanes {
    using Type [[gnu::vector_size(bytes)]] = std::uint64_t;
};

template <typename V>
[[gnu::always_inline]] inline void three(void* target, const void* source, std::size_t bytes) {
    V* __restrict to = static_cast<V*>(target);
    const V* __restrict from = static_cast<const V*>(source);
    for (std::size_t i = 0; i < bytes / sizeof(V); i += 4) {
        to[i] ^= from[i];
        to[i + 1] ^= from[i + 1];
        to[i + 2] ^= from[i + 2];
        to[i + 3] ^= from[i + 3];
    }
}

template <typename V>
[[gnu::always_inline]] inline void four(void* target, const void* first, const void* second,
                                        std::size_t bytes) {
    V* __restrict to = static_cast<V*>(target);
    const V* __restrict one = static_cast<const V*>(first);
    const V* __restrict two = static_cast<const V*>(second);
    for (std::size_t i = 0; i < bytes / sizeof(V); i += 4) {
        to[i] ^= one[i] ^ two[i];
        to[i + 1] ^= one[i + 1] ^ two[i + 1];
        to[i + 2] ^= one[i + 2] ^ two[i + 2];
        to[i + 3] ^= one[i + 3] ^ two[i + 3];
    }
}

using Narrow = Lanes<16>::Type;
void three_narrow(void* target, const void* source, std::size_t bytes) {
    three<Narrow>(target, source, bytes);
}
void four_narrow(void* target, const void* first, const void* second, std::size_t bytes) {
    four<Narrow>(target, first, second, bytes);
}

#if defined(__x86_64__)
using Wide = Lanes<32>::Type;
[[gnu::target("avx2")]] void three_wide(void* target, const void* source, std::size_t bytes) {
    three<Wide>(target, source, bytes);
}
[[gnu::target("avx2")]] void four_wide(void* target, const void* first, const void* second,
                                       std::size_t bytes) {
    four<Wide>(target, first, second, bytes);
}
using Widest = Lanes<64>::Type;
[[gnu::target("avx512f")]] void three_widest(void* target, const void* source, std::size_t bytes) {
    three<Widest>(target, source, bytes);
}
[[gnu::target("avx512f")]] void four_widest(void* target, const void* first, const void* second,
                                            std::size_t bytes) {
    four<Widest>(target, first, second, bytes);
}
#endif

constexpr Streams all[] = {{"16 bytes", three_narrow, four_narrow},
#if defined(__x86_64__)
                           {"32 bytes", three_wide, four_wide},
                           {"64 bytes", three_widest, four_widest}
#endif
};

std::size_t usable() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        return 3;
    }
    if (__builtin_cpu_supports("avx2")) {
        return 2;
    }
#endif
    return 1;
}

}  // namespace

std::span<const Streams> streams() {
    return {all, usable()};
}

}  // namespace trefoil::micro
