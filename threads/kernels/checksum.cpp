// SPDX-License-Identifier: BSD-3-Clause
// CRC-32C by the processor's instruction, and by a table.
#include "threads/kernels/checksum.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace trefoil {

namespace {

constexpr std::uint32_t reflected_polynomial = 0x82f63b78;

constexpr std::array<std::uint32_t, 256> make_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit) {
            rest = rest >> 1 ^ ((rest & 1) != 0 ? reflected_polynomial : 0);
        }
        table[byte] = rest;
    }
    return table;
}
constexpr std::array<std::uint32_t, 256> table = make_table();

#if defined(__x86_64__)
[[gnu::target("sse4.2")]] std::uint32_t by_instruction(const unsigned char* data, std::size_t bytes,
                                                       std::uint32_t before) noexcept {
    std::uint64_t crc = ~before;
    for (; bytes >= sizeof(std::uint64_t); bytes -= sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, data, sizeof word);
        crc = _mm_crc32_u64(crc, word);
        data += sizeof word;
    }
    auto rest = static_cast<std::uint32_t>(crc);
    for (; bytes > 0; --bytes) {
        rest = _mm_crc32_u8(rest, *data++);
    }
    return ~rest;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(const void* data, std::size_t bytes, std::uint32_t before) noexcept {
    const auto* next = static_cast<const unsigned char*>(data);
    std::uint32_t crc = ~before;
    for (std::size_t i = 0; i < bytes; ++i) {
        crc = crc >> 8 ^ table[(crc ^ next[i]) & 0xff];
    }
    return ~crc;
}

std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before) noexcept {
#if defined(__x86_64__)
    static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
    if (has_instruction) {
        return by_instruction(static_cast<const unsigned char*>(data), bytes, before);
    }
#endif
    return crc32c_by_table(data, bytes, before);
}

}  // namespace trefoil
