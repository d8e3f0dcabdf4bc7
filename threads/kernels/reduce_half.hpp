// SPDX-License-Identifier: BSD-3-Clause
// Branch-free conversions between float and the 16-bit floats, inline so that loops over them
// vectorise. They hold whether or not the caller flushes denormal numbers to zero.
#pragma once

#include <bit>
#include <cstdint>

namespace trefoil::half {

inline constexpr std::uint32_t float_infinity = 0x7f800000U;
inline constexpr std::uint32_t float_magnitude = 0x7fffffffU;

/// All bits set when a < b, for a and b below 2^31: a subtraction and a shift, because SSE2
/// compares no unsigned numbers and compilers turn conditions into slow code.
inline std::uint32_t less(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(a - b) >> 31);
}

inline std::uint32_t choose(std::uint32_t mask, std::uint32_t yes, std::uint32_t no) {
    return (yes & mask) | (no & ~mask);
}

inline float widen_float16(std::uint16_t half) {
    constexpr std::uint32_t rebias = 112U << 23;  // 127 - 15 in the exponent field
    constexpr std::uint32_t smallest_normal = 113U << 23;
    const std::uint32_t magnitude = half & 0x7fffU;
    const std::uint32_t sign = (half & 0x8000U) << 16;
    const std::uint32_t shifted = magnitude << 13;
    const std::uint32_t normal = shifted + rebias + (less(0x7bffU, magnitude) & rebias);
    // A denormal m * 2^-24 is (1 + m/1024) * 2^-14 minus 2^-14: both operands are normal floats.
    const float denormal =
        std::bit_cast<float>(shifted + smallest_normal) - std::bit_cast<float>(smallest_normal);
    const std::uint32_t bits =
        choose(less(magnitude, 0x0400U), std::bit_cast<std::uint32_t>(denormal), normal);
    return std::bit_cast<float>(bits | sign);
}

inline std::uint16_t narrow_float16(float value) {
    constexpr std::uint32_t rebias = 112U << 23;
    constexpr std::uint32_t smallest_normal = 113U << 23;
    constexpr std::uint32_t overflow = 143U << 23;  // 65536; what lies below rounds up by itself
    constexpr std::uint32_t one_half = 126U << 23;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & float_magnitude;
    const std::uint32_t normal = (magnitude - rebias + 0x0fffU + ((magnitude >> 13) & 1U)) >> 13;
    // The last place of 0.5 is 2^-24, that of a denormal float16: the addition rounds.
    const float rounded = std::bit_cast<float>(magnitude) + std::bit_cast<float>(one_half);
    const std::uint32_t denormal = std::bit_cast<std::uint32_t>(rounded) - one_half;
    std::uint32_t result = choose(less(magnitude, smallest_normal), denormal, normal);
    result = choose(less(magnitude, overflow), result, 0x7c00U) | ((bits >> 16) & 0x8000U);
    return static_cast<std::uint16_t>(choose(less(float_infinity, magnitude), 0x7e00U, result));
}

inline float widen_bfloat16(std::uint16_t half) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

inline std::uint16_t narrow_bfloat16(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    return static_cast<std::uint16_t>(
        choose(less(float_infinity, bits & float_magnitude), 0x7fc0U, rounded));
}

}  // namespace trefoil::half
