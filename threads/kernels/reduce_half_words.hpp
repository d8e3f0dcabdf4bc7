// SPDX-License-Identifier: BSD-3-Clause
// Sums and products of bfloat16 two at a time, in plain C++; bit for bit what the conversions of
// reduce_half.hpp give. Private to threads/reduce_half*.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "threads/kernels/reduce_half.hpp"
#include "threads/kernels/reduce_kernels.hpp"

namespace trefoil::kernels {

/// bfloat16 by words of two, each half of which becomes a float by a mask or a shift: no lane ever
/// has to be widened or packed, and the loop vectorises for any instructions.
template <typename Combine>
struct Bfloat16Words {
    [[gnu::always_inline]] static void one(void* target, const void* first, const void* second,
                                           std::size_t count) {
        Word* to = static_cast<Word*>(target);
        const Word* left = static_cast<const Word*>(first);
        const Word* right = static_cast<const Word*>(second);
        TREFOIL_NO_DEPENDENCES
        for (std::size_t i = 0; i < count / 2; ++i) {
            to[i] = final(combine(left[i], right[i]));
        }
        if (count % 2 != 0) {
            last(target, count) = single(last(first, count), last(second, count));
        }
    }

    [[gnu::always_inline]] static void both(void* target, const void* first, const void* second,
                                            const void* third, std::size_t count) {
        Word* to = static_cast<Word*>(target);
        const Word* one = static_cast<const Word*>(first);
        const Word* two = static_cast<const Word*>(second);
        const Word* three = static_cast<const Word*>(third);
        TREFOIL_NO_DEPENDENCES
        for (std::size_t i = 0; i < count / 2; ++i) {
            to[i] = final(combine(between(combine(one[i], two[i])), three[i]));
        }
        if (count % 2 != 0) {
            last(target, count) =
                single(single(last(first, count), last(second, count)), last(third, count));
        }
    }

  private:
    using Word [[gnu::may_alias, gnu::aligned(2)]] = std::uint32_t;
    static constexpr std::uint32_t upper = 0xffff0000U;
    struct Floats {
        float low, high;
    };

    static Floats combine(Floats a, Floats b) {
        return {Combine::apply(a.low, b.low), Combine::apply(a.high, b.high)};
    }
    static Floats widen(std::uint32_t word) {
        return {std::bit_cast<float>(word << 16), std::bit_cast<float>(word & upper)};
    }
    static Floats combine(std::uint32_t a, std::uint32_t b) { return combine(widen(a), widen(b)); }
    static Floats combine(Floats a, std::uint32_t b) { return combine(a, widen(b)); }

    /// To nearest even, in the upper half.
    static std::uint32_t rounded(float value) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
        return bits + (0x7fffU + ((bits >> 16) & 1U));
    }
    static std::uint32_t rounded_or_nan(float value) {
        return value != value ? 0x7fc00000U : rounded(value);
    }
    static std::uint32_t final(Floats values) {
        return (rounded_or_nan(values.low) >> 16) | (rounded_or_nan(values.high) & upper);
    }
    /// A NaN that came of bfloat16 numbers has zeros below, so that rounding leaves it one.
    static Floats between(Floats values) {
        return {std::bit_cast<float>(rounded(values.low) & upper),
                std::bit_cast<float>(rounded(values.high) & upper)};
    }
    static std::uint16_t& last(void* numbers, std::size_t count) {
        return static_cast<std::uint16_t*>(numbers)[count - 1];
    }
    static std::uint16_t last(const void* numbers, std::size_t count) {
        return static_cast<const std::uint16_t*>(numbers)[count - 1];
    }
    static std::uint16_t single(std::uint16_t a, std::uint16_t b) {
        return half::narrow_bfloat16(
            Combine::apply(half::widen_bfloat16(a), half::widen_bfloat16(b)));
    }
};

}  // namespace trefoil::kernels
