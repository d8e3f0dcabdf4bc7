// SPDX-License-Identifier: BSD-3-Clause
// Reduction kernels of float, double and their complex numbers.
#include "threads/kernels/reduce_real.hpp"

#include <algorithm>

#include "threads/kernels/reduce_kernels.hpp"

namespace trefoil::kernels {

namespace {

template <typename T>
struct Complex {
    T real;
    T imaginary;
};

// The textbook formula: commutative to the last bit, and it vectorises. It does not recover
// infinities as C's operator does.
struct ComplexProduct {
    template <typename T>
    static Complex<T> apply(Complex<T> a, Complex<T> b) {
        return {a.real * b.real - a.imaginary * b.imaginary,
                a.real * b.imaginary + a.imaginary * b.real};
    }
};

template <Instructions instructions, typename T>
constexpr Row make_real_row() {
    Row row{};
    set(row, Operation::sum, kernels_of<instructions, Plain<T, real::Sum>>());
    set(row, Operation::prod, kernels_of<instructions, Plain<T, real::Product>>());
    set(row, Operation::min, kernels_of<instructions, Blocked<T, real::Minimum>>());
    set(row, Operation::max, kernels_of<instructions, Blocked<T, real::Maximum>>());
    set(row, Operation::logical_and, kernels_of<instructions, Plain<T, real::LogicalAnd>>());
    set(row, Operation::logical_or, kernels_of<instructions, Plain<T, real::LogicalOr>>());
    set(row, Operation::logical_xor, kernels_of<instructions, Plain<T, real::LogicalXor>>());
    return row;
}

template <Instructions instructions, typename T>
constexpr Row make_complex_row() {
    Row row{};
    set(row, Operation::sum, kernels_of<instructions, Plain<T, real::Sum, 2>>());
    // gcc 12 makes fused multiply-adds of this product where AVX-512 or SVE have them, whatever
    // -ffp-contract says.
#if defined(__x86_64__)
    constexpr Instructions unfused = std::min(instructions, Instructions::avx2);
#else
    constexpr Instructions unfused = Instructions::baseline;
#endif
    set(row, Operation::prod, kernels_of<unfused, Plain<Complex<T>, ComplexProduct>>());
    return row;
}

template <typename T>
constexpr Table real_table = table_by_instructions([]<Instructions instructions>() {
    return make_real_row<instructions, T>();
});

template <typename T>
constexpr Table complex_table = table_by_instructions([]<Instructions instructions>() {
    return make_complex_row<instructions, T>();
});

}  // namespace

constexpr Table float32 = real_table<float>;
constexpr Table float64 = real_table<double>;
constexpr Table complex_float = complex_table<float>;
constexpr Table complex_double = complex_table<double>;

}  // namespace trefoil::kernels
