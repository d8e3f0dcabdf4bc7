// SPDX-License-Identifier: BSD-3-Clause
// Reduction kernels of float16 and bfloat16: widened to float, combined, and rounded after every
// operation, so that the joint pass gives the bits of two single ones.
#include "threads/kernels/reduce_half.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "threads/kernels/reduce_half_words.hpp"
#include "threads/kernels/reduce_half_x86.hpp"
#include "threads/kernels/reduce_kernels.hpp"
#include "threads/kernels/reduce_real.hpp"

namespace trefoil {

namespace kernels {

namespace {

struct Float16 {
    static constexpr int infinity = 0x7c00;
    static constexpr int quiet_nan = 0x7e00;
    static float widen(std::uint16_t bits) { return half::widen_float16(bits); }
    static std::uint16_t narrow(float value) { return half::narrow_float16(value); }
};

struct Bfloat16 {
    static constexpr int infinity = 0x7f80;
    static constexpr int quiet_nan = 0x7fc0;
    static float widen(std::uint16_t bits) { return half::widen_bfloat16(bits); }
    static std::uint16_t narrow(float value) { return half::narrow_bfloat16(value); }
};

template <typename Format, typename Combine>
struct InFloat {
    static std::uint16_t apply(std::uint16_t a, std::uint16_t b) {
        return Format::narrow(Combine::apply(Format::widen(a), Format::widen(b)));
    }
};

#if defined(__aarch64__)
// A sum or product of two 16-bit floats that is rounded to float first is rounded to the same
// 16 bits. Compilers know that, and compute in 16 bits where the instructions can.
template <typename Combine>
struct NativeFloat16 {
    static std::uint16_t apply(std::uint16_t a, std::uint16_t b) {
        const float result = Combine::apply(static_cast<float>(std::bit_cast<__fp16>(a)),
                                            static_cast<float>(std::bit_cast<__fp16>(b)));
        const auto bits = std::bit_cast<std::uint16_t>(static_cast<__fp16>(result));
        return (bits & 0x7fffU) > Float16::infinity ? Float16::quiet_nan : bits;
    }
};
#endif

// Min and max need no float: with the magnitude of negative numbers inverted, the patterns are
// ordered as 16-bit integers, -0 below +0, which is what real::Minimum and Maximum promise.
inline std::int16_t ordered(std::uint16_t bits) {
    const auto number = static_cast<std::int16_t>(bits);
    return static_cast<std::int16_t>(number ^ ((number >> 15) & 0x7fff));
}

template <typename Format>
inline std::uint16_t unless_nan(std::uint16_t a, std::uint16_t b, std::int16_t result) {
    const auto larger =
        std::max(static_cast<std::int16_t>(a & 0x7fff), static_cast<std::int16_t>(b & 0x7fff));
    // The order's mapping is its own inverse.
    return larger > Format::infinity
               ? static_cast<std::uint16_t>(Format::quiet_nan)
               : static_cast<std::uint16_t>(ordered(static_cast<std::uint16_t>(result)));
}

template <typename Format>
struct Minimum {
    static std::uint16_t apply(std::uint16_t a, std::uint16_t b) {
        return unless_nan<Format>(a, b, std::min(ordered(a), ordered(b)));
    }
};

template <typename Format>
struct Maximum {
    static std::uint16_t apply(std::uint16_t a, std::uint16_t b) {
        return unless_nan<Format>(a, b, std::max(ordered(a), ordered(b)));
    }
};

/// The loops of sums and products.
template <Instructions instructions, typename Format, typename Combine>
struct Arithmetic {
    using Type = Plain<std::uint16_t, InFloat<Format, Combine>>;
};
template <Instructions instructions, typename Combine>
struct Arithmetic<instructions, Bfloat16, Combine> {
    using Type = Bfloat16Words<Combine>;
};
#if defined(__aarch64__)
template <typename Combine>
struct Arithmetic<Instructions::neon_fp16, Float16, Combine> {
    using Type = Plain<std::uint16_t, NativeFloat16<Combine>>;
};
template <typename Combine>
struct Arithmetic<Instructions::sve, Float16, Combine>
    : Arithmetic<Instructions::neon_fp16, Float16, Combine> {};
#elif defined(__x86_64__)
template <typename Combine>
using Float16Rest = Plain<std::uint16_t, InFloat<Float16, Combine>>;
template <typename Combine>
struct Arithmetic<Instructions::avx2, Float16, Combine> {
    using Type = Float16Avx2<Combine, Float16Rest<Combine>>;
};
template <typename Combine>
struct Arithmetic<Instructions::avx512, Float16, Combine> {
    using Type = Float16Avx512<Combine, Float16Rest<Combine>>;
};
template <typename Combine>
struct Arithmetic<Instructions::avx512_fp16, Float16, Combine> {
    using Type = Float16Native<Combine, Float16Rest<Combine>>;
};
template <typename Combine>
struct Arithmetic<Instructions::avx512, Bfloat16, Combine> {
    using Type = Bfloat16Avx512<Combine, Bfloat16Words<Combine>>;
};
template <typename Combine>
struct Arithmetic<Instructions::avx512_fp16, Bfloat16, Combine>
    : Arithmetic<Instructions::avx512, Bfloat16, Combine> {};
#endif

template <Instructions instructions, typename Format>
constexpr Row make_row() {
    Row row{};
    set(row, Operation::sum,
        kernels_of<instructions, typename Arithmetic<instructions, Format, real::Sum>::Type>());
    set(row, Operation::prod,
        kernels_of<instructions, typename Arithmetic<instructions, Format, real::Product>::Type>());
    set(row, Operation::min, kernels_of<instructions, Plain<std::uint16_t, Minimum<Format>>>());
    set(row, Operation::max, kernels_of<instructions, Plain<std::uint16_t, Maximum<Format>>>());
    set(row, Operation::logical_and,
        kernels_of<instructions, Plain<std::uint16_t, InFloat<Format, real::LogicalAnd>>>());
    set(row, Operation::logical_or,
        kernels_of<instructions, Plain<std::uint16_t, InFloat<Format, real::LogicalOr>>>());
    set(row, Operation::logical_xor,
        kernels_of<instructions, Plain<std::uint16_t, InFloat<Format, real::LogicalXor>>>());
    return row;
}

template <typename Format, std::size_t... set>
constexpr Table make_table(std::index_sequence<set...>) {
    return {{make_row<static_cast<Instructions>(set), Format>()...}};
}

template <typename Format>
constexpr Table table = make_table<Format>(std::make_index_sequence<instructions_count>());

}  // namespace

constexpr Table float16 = table<Float16>;
constexpr Table bfloat16 = table<Bfloat16>;

}  // namespace kernels

float to_float_from_float16(std::uint16_t bits) {
    return half::widen_float16(bits);
}
float to_float_from_bfloat16(std::uint16_t bits) {
    return half::widen_bfloat16(bits);
}
std::uint16_t to_float16(float value) {
    return half::narrow_float16(value);
}
std::uint16_t to_bfloat16(float value) {
    return half::narrow_bfloat16(value);
}

}  // namespace trefoil
