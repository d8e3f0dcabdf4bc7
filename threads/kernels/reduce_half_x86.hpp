// SPDX-License-Identifier: BSD-3-Clause
// Sums and products of the 16-bit floats by instructions that not every x86 processor has; bit for
// bit what the conversions of reduce_half.hpp give. Private to threads/kernels/reduce_half.cpp.
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "threads/kernels/reduce_kernels.hpp"
#include "threads/kernels/reduce_real.hpp"

namespace trefoil::kernels {

// `Rest` has the loops for what does not fill the lanes. The conversions of F16C are exact,
// whatever the modes for denormal numbers.
template <typename Combine, typename Rest>
struct Float16Avx2 {
    [[gnu::always_inline, TREFOIL_AVX2]] static void one(void* target, const void* first,
                                                         const void* second, std::size_t count) {
        auto* to = static_cast<std::uint16_t*>(target);
        const auto* left = static_cast<const std::uint16_t*>(first);
        const auto* right = static_cast<const std::uint16_t*>(second);
        std::size_t i = 0;
        for (; i + lanes <= count; i += lanes) {
            store(to + i, narrow(combine(load(left + i), load(right + i))));
        }
        Rest::one(to + i, left + i, right + i, count - i);
    }

    [[gnu::always_inline, TREFOIL_AVX2]] static void both(void* target, const void* first,
                                                          const void* second, const void* third,
                                                          std::size_t count) {
        auto* to = static_cast<std::uint16_t*>(target);
        const auto* one = static_cast<const std::uint16_t*>(first);
        const auto* two = static_cast<const std::uint16_t*>(second);
        const auto* three = static_cast<const std::uint16_t*>(third);
        std::size_t i = 0;
        for (; i + lanes <= count; i += lanes) {
            const __m256 sum = _mm256_cvtph_ps(narrow(combine(load(one + i), load(two + i))));
            store(to + i, narrow(combine(sum, load(three + i))));
        }
        Rest::both(to + i, one + i, two + i, three + i, count - i);
    }

  private:
    static constexpr std::size_t lanes = 8;

    [[gnu::always_inline, TREFOIL_AVX2]] static __m256 load(const std::uint16_t* from) {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    }
    [[gnu::always_inline, TREFOIL_AVX2]] static void store(std::uint16_t* to, __m128i halves) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), halves);
    }
    [[gnu::always_inline, TREFOIL_AVX2]] static __m256 combine(__m256 a, __m256 b) {
        if constexpr (std::is_same_v<Combine, real::Sum>) {
            return _mm256_add_ps(a, b);
        } else {
            return _mm256_mul_ps(a, b);
        }
    }
    /// The one quiet NaN for any.
    [[gnu::always_inline, TREFOIL_AVX2]] static __m128i narrow(__m256 values) {
        const __m256 nan = _mm256_cmp_ps(values, values, _CMP_UNORD_Q);
        const __m256 quiet = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
        return _mm256_cvtps_ph(_mm256_blendv_ps(values, quiet, nan), _MM_FROUND_TO_NEAREST_INT);
    }
};

template <typename Combine, typename Rest>
struct Float16Avx512 {
    [[gnu::always_inline, TREFOIL_AVX512]] static void one(void* target, const void* first,
                                                           const void* second, std::size_t count) {
        auto* to = static_cast<std::uint16_t*>(target);
        const auto* left = static_cast<const std::uint16_t*>(first);
        const auto* right = static_cast<const std::uint16_t*>(second);
        std::size_t i = 0;
        for (; i + lanes <= count; i += lanes) {
            store(to + i, narrow(combine(load(left + i), load(right + i))));
        }
        Rest::one(to + i, left + i, right + i, count - i);
    }

    [[gnu::always_inline, TREFOIL_AVX512]] static void both(void* target, const void* first,
                                                            const void* second, const void* third,
                                                            std::size_t count) {
        auto* to = static_cast<std::uint16_t*>(target);
        const auto* one = static_cast<const std::uint16_t*>(first);
        const auto* two = static_cast<const std::uint16_t*>(second);
        const auto* three = static_cast<const std::uint16_t*>(third);
        std::size_t i = 0;
        for (; i + lanes <= count; i += lanes) {
            const __m512 sum = widen(narrow(combine(load(one + i), load(two + i))));
            store(to + i, narrow(combine(sum, load(three + i))));
        }
        Rest::both(to + i, one + i, two + i, three + i, count - i);
    }

  private:
    static constexpr std::size_t lanes = 16;
    [[gnu::always_inline, TREFOIL_AVX512]] static __m512 widen(__m256i halves) {
        return _mm512_cvtph_ps(halves);
    }

    [[gnu::always_inline, TREFOIL_AVX512]] static __m512 load(const std::uint16_t* from) {
        return widen(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    }
    [[gnu::always_inline, TREFOIL_AVX512]] static void store(std::uint16_t* to, __m256i halves) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), halves);
    }
    [[gnu::always_inline, TREFOIL_AVX512]] static __m512 combine(__m512 a, __m512 b) {
        if constexpr (std::is_same_v<Combine, real::Sum>) {
            return _mm512_add_ps(a, b);
        } else {
            return _mm512_mul_ps(a, b);
        }
    }
    /// The one quiet NaN for any.
    [[gnu::always_inline, TREFOIL_AVX512]] static __m256i narrow(__m512 values) {
        const __mmask16 nan = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
        const __m512 quiet = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000));
        return _mm512_cvtps_ph(_mm512_mask_mov_ps(values, nan, quiet),
                               _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
};

#if !defined(__clang__)
/// Natively (AVX512-FP16): a float has more than twice the digits of a float16, so that rounding to
/// float in between would change no sum and no product.
template <typename Combine, typename Rest>
struct Float16Native {
    [[gnu::always_inline, TREFOIL_AVX512_FP16]] static void one(void* target, const void* first,
                                                                const void* second,
                                                                std::size_t count) {
        auto* to = static_cast<std::uint16_t*>(target);
        const auto* left = static_cast<const std::uint16_t*>(first);
        const auto* right = static_cast<const std::uint16_t*>(second);
        std::size_t i = 0;
        for (; i + lanes <= count; i += lanes) {
            store(to + i, combine(load(left + i), load(right + i)));
        }
        Rest::one(to + i, left + i, right + i, count - i);
    }

    [[gnu::always_inline, TREFOIL_AVX512_FP16]] static void both(void* target, const void* first,
                                                                 const void* second,
                                                                 const void* third,
                                                                 std::size_t count) {
        auto* to = static_cast<std::uint16_t*>(target);
        const auto* one = static_cast<const std::uint16_t*>(first);
        const auto* two = static_cast<const std::uint16_t*>(second);
        const auto* three = static_cast<const std::uint16_t*>(third);
        std::size_t i = 0;
        for (; i + lanes <= count; i += lanes) {
            store(to + i, combine(combine(load(one + i), load(two + i)), load(three + i)));
        }
        Rest::both(to + i, one + i, two + i, three + i, count - i);
    }

  private:
    static constexpr std::size_t lanes = 32;

    [[gnu::always_inline, TREFOIL_AVX512_FP16]] static __m512h load(const std::uint16_t* from) {
        return _mm512_castsi512_ph(_mm512_loadu_si512(from));
    }
    [[gnu::always_inline, TREFOIL_AVX512_FP16]] static __m512h combine(__m512h a, __m512h b) {
        if constexpr (std::is_same_v<Combine, real::Sum>) {
            return _mm512_add_ph(a, b);
        } else {
            return _mm512_mul_ph(a, b);
        }
    }
    /// The one quiet NaN for any.
    [[gnu::always_inline, TREFOIL_AVX512_FP16]] static void store(std::uint16_t* to,
                                                                  __m512h values) {
        const __mmask32 nan = _mm512_cmp_ph_mask(values, values, _CMP_UNORD_Q);
        _mm512_storeu_si512(
            to, _mm512_mask_mov_epi16(_mm512_castph_si512(values), nan, _mm512_set1_epi16(0x7e00)));
    }
};
#else
/// clang 14 knows no float16 unless all of a file is compiled for it.
template <typename Combine, typename Rest>
using Float16Native = Float16Avx512<Combine, Rest>;
#endif

/// bfloat16 by words of two as in Bfloat16Words, but rounded after they lie side by side again,
/// which is half the work. NaN are looked for two vectors at a time: where there is none, as nearly
/// always, that takes less than replacing them.
template <typename Combine, typename Rest>
struct Bfloat16Avx512 {
    [[gnu::always_inline, TREFOIL_AVX512]] static void one(void* target, const void* first,
                                                           const void* second, std::size_t count) {
        auto* to = static_cast<std::uint16_t*>(target);
        const auto* left = static_cast<const std::uint16_t*>(first);
        const auto* right = static_cast<const std::uint16_t*>(second);
        std::size_t i = 0;
        for (; i + 2 * lanes <= count; i += 2 * lanes) {
            store(to + i, combine(load(left + i), load(right + i)),
                  combine(load(left + i + lanes), load(right + i + lanes)));
        }
        Rest::one(to + i, left + i, right + i, count - i);
    }

    [[gnu::always_inline, TREFOIL_AVX512]] static void both(void* target, const void* first,
                                                            const void* second, const void* third,
                                                            std::size_t count) {
        auto* to = static_cast<std::uint16_t*>(target);
        const auto* one = static_cast<const std::uint16_t*>(first);
        const auto* two = static_cast<const std::uint16_t*>(second);
        const auto* three = static_cast<const std::uint16_t*>(third);
        std::size_t i = 0;
        for (; i + 2 * lanes <= count; i += 2 * lanes) {
            store(to + i, combine_all(one + i, two + i, three + i),
                  combine_all(one + i + lanes, two + i + lanes, three + i + lanes));
        }
        Rest::both(to + i, one + i, two + i, three + i, count - i);
    }

  private:
    static constexpr std::size_t lanes = 32;
    static constexpr __mmask32 odd = 0xaaaaaaaaU;
    struct Floats {
        __m512 even, odd;
    };

    [[gnu::always_inline, TREFOIL_AVX512]] static Floats widen(__m512i words) {
        return {_mm512_castsi512_ps(_mm512_slli_epi32(words, 16)),
                _mm512_castsi512_ps(
                    _mm512_and_si512(words, _mm512_set1_epi32(static_cast<int>(0xffff0000U))))};
    }
    [[gnu::always_inline, TREFOIL_AVX512]] static Floats load(const std::uint16_t* from) {
        return widen(_mm512_loadu_si512(from));
    }
    [[gnu::always_inline, TREFOIL_AVX512]] static Floats combine(Floats a, Floats b) {
        if constexpr (std::is_same_v<Combine, real::Sum>) {
            return {_mm512_add_ps(a.even, b.even), _mm512_add_ps(a.odd, b.odd)};
        } else {
            return {_mm512_mul_ps(a.even, b.even), _mm512_mul_ps(a.odd, b.odd)};
        }
    }
    /// A NaN that came of bfloat16 numbers has zeros below, so that rounding leaves it one.
    [[gnu::always_inline, TREFOIL_AVX512]] static Floats combine_all(const std::uint16_t* a,
                                                                     const std::uint16_t* b,
                                                                     const std::uint16_t* c) {
        return combine(widen(rounded(combine(load(a), load(b)))), load(c));
    }
    /// To nearest even. What is cut off, with the last bit that stays or-ed into its own last one,
    /// lies above the middle exactly where the number is to grow.
    [[gnu::always_inline, TREFOIL_AVX512]] static __m512i rounded(Floats values) {
        const __m512i even = _mm512_castps_si512(values.even);
        const __m512i high = _mm512_castps_si512(values.odd);
        const __m512i kept = _mm512_mask_mov_epi16(_mm512_srli_epi32(even, 16), odd, high);
        const __m512i cut = _mm512_mask_mov_epi16(even, odd, _mm512_slli_epi32(high, 16));
        const __m512i one = _mm512_set1_epi16(1);
        constexpr int first_or_both_others = 0xf8;
        const __m512i sticky = _mm512_ternarylogic_epi32(cut, kept, one, first_or_both_others);
        const __mmask32 grows =
            _mm512_cmpgt_epu16_mask(sticky, _mm512_set1_epi16(static_cast<short>(0x8000)));
        return _mm512_mask_add_epi16(kept, grows, kept, one);
    }
    /// The one quiet NaN for any.
    [[gnu::always_inline, TREFOIL_AVX512]] static __m512 quiet(__m512 values) {
        return _mm512_mask_mov_ps(values, _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q),
                                  _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000)));
    }
    [[gnu::always_inline, TREFOIL_AVX512]] static void store(std::uint16_t* to, Floats a,
                                                             Floats b) {
        const __mmask16 nan_in_a = _mm512_cmp_ps_mask(a.even, a.odd, _CMP_UNORD_Q);
        const __mmask16 nan_in_b = _mm512_cmp_ps_mask(b.even, b.odd, _CMP_UNORD_Q);
        if ((nan_in_a | nan_in_b) != 0) [[unlikely]] {
            a = {quiet(a.even), quiet(a.odd)};
            b = {quiet(b.even), quiet(b.odd)};
        }
        _mm512_storeu_si512(to, rounded(a));
        _mm512_storeu_si512(to + lanes, rounded(b));
    }
};

}  // namespace trefoil::kernels

#endif
