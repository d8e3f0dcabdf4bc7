// SPDX-License-Identifier: BSD-3-Clause
// Reduction kernels of float16 and bfloat16: widened to float, combined, and rounded after every
// operation, so that the joint pass gives the bits of two single ones.
#include "threads/reduce_half.hpp"

#include <algorithm>

#include "threads/reduce_kernels.hpp"
#include "threads/reduce_real.hpp"

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

template <typename Format>
constexpr Row make_row() {
    Row row{};
    set(row, Operation::sum, kernels_of<std::uint16_t, InFloat<Format, real::Sum>>());
    set(row, Operation::prod, kernels_of<std::uint16_t, InFloat<Format, real::Product>>());
    set(row, Operation::min, kernels_of<std::uint16_t, Minimum<Format>>());
    set(row, Operation::max, kernels_of<std::uint16_t, Maximum<Format>>());
    set(row, Operation::logical_and,
        kernels_of<std::uint16_t, InFloat<Format, real::LogicalAnd>>());
    set(row, Operation::logical_or, kernels_of<std::uint16_t, InFloat<Format, real::LogicalOr>>());
    set(row, Operation::logical_xor,
        kernels_of<std::uint16_t, InFloat<Format, real::LogicalXor>>());
    return row;
}

constexpr Row float16_row = make_row<Float16>();
constexpr Row bfloat16_row = make_row<Bfloat16>();

}  // namespace

const Row& half_row(DataType type) {
    return type == DataType::float16 ? float16_row : bfloat16_row;
}

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
