// SPDX-License-Identifier: BSD-3-Clause
// Reduction kernels of float, double and their complex numbers.
#include "threads/reduce_real.hpp"

#include "threads/reduce_kernels.hpp"

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

template <typename T>
constexpr Row make_real_row() {
    Row row{};
    set(row, Operation::sum, kernels_of<T, real::Sum>());
    set(row, Operation::prod, kernels_of<T, real::Product>());
    set(row, Operation::min, blocked_kernels_of<T, real::Minimum>());
    set(row, Operation::max, blocked_kernels_of<T, real::Maximum>());
    set(row, Operation::logical_and, kernels_of<T, real::LogicalAnd>());
    set(row, Operation::logical_or, kernels_of<T, real::LogicalOr>());
    set(row, Operation::logical_xor, kernels_of<T, real::LogicalXor>());
    return row;
}

template <typename T>
constexpr Row make_complex_row() {
    Row row{};
    set(row, Operation::sum, kernels_of<T, real::Sum, 2>());
    set(row, Operation::prod, kernels_of<Complex<T>, ComplexProduct>());
    return row;
}

constexpr Row float_row = make_real_row<float>();
constexpr Row double_row = make_real_row<double>();
constexpr Row complex_float_row = make_complex_row<float>();
constexpr Row complex_double_row = make_complex_row<double>();

}  // namespace

const Row& real_row(DataType type) {
    return type == DataType::float32 ? float_row : double_row;
}

const Row& complex_row(DataType type) {
    return type == DataType::complex_float ? complex_float_row : complex_double_row;
}

}  // namespace trefoil::kernels
