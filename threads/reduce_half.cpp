// SPDX-License-Identifier: BSD-3-Clause
// Reduction kernels of float16 and bfloat16: widened to float, combined, and rounded after every
// operation, so that the joint pass gives the bits of two single ones.
#include "threads/reduce_half.hpp"

#include "threads/reduce_kernels.hpp"
#include "threads/reduce_real.hpp"

namespace trefoil {

namespace kernels {

namespace {

struct Float16 {
    static float widen(std::uint16_t bits) { return half::widen_float16(bits); }
    static std::uint16_t narrow(float value) { return half::narrow_float16(value); }
};

struct Bfloat16 {
    static float widen(std::uint16_t bits) { return half::widen_bfloat16(bits); }
    static std::uint16_t narrow(float value) { return half::narrow_bfloat16(value); }
};

template <typename Format, typename Combine>
struct InFloat {
    static std::uint16_t apply(std::uint16_t a, std::uint16_t b) {
        return Format::narrow(Combine::apply(Format::widen(a), Format::widen(b)));
    }
};

template <typename Format>
constexpr Row make_row() {
    Row row{};
    set(row, Operation::sum, kernels_of<std::uint16_t, InFloat<Format, real::Sum>>());
    set(row, Operation::prod, kernels_of<std::uint16_t, InFloat<Format, real::Product>>());
    set(row, Operation::min, blocked_kernels_of<std::uint16_t, InFloat<Format, real::Minimum>>());
    set(row, Operation::max, blocked_kernels_of<std::uint16_t, InFloat<Format, real::Maximum>>());
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
