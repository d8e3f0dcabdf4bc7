// SPDX-License-Identifier: BSD-3-Clause
// The two loops from which every reduction kernel is made, and the tables that the families of
// types provide. Private to threads/reduce*.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "threads/reduce.hpp"

namespace trefoil::kernels {

/// One element type's kernels, indexed by Operation.
using Row = std::array<ReduceKernels, operation_count>;

/// Rows of the families; `type` belongs to the family.
const Row& integer_row(DataType type);
const Row& real_row(DataType type);
const Row& half_row(DataType type);
const Row& complex_row(DataType type);
const Row& pair_row(DataType type);

// __restrict, because the loops vectorise without overlap checks only when the compiler knows what
// the contract in reduce.hpp says. `Width` values make one element: complex sums are sums of twice
// as many values.
template <typename T, typename Combine, std::size_t Width = 1>
void reduce(void* target, const void* source, std::size_t count) {
    T* __restrict to = static_cast<T*>(target);
    const T* __restrict from = static_cast<const T*>(source);
    const std::size_t values = count * Width;
    for (std::size_t i = 0; i < values; ++i) {
        to[i] = Combine::apply(to[i], from[i]);
    }
}

template <typename T, typename Combine, std::size_t Width = 1>
void joint(void* target, const void* first, const void* second, std::size_t count) {
    T* __restrict to = static_cast<T*>(target);
    const T* __restrict one = static_cast<const T*>(first);
    const T* __restrict two = static_cast<const T*>(second);
    const std::size_t values = count * Width;
    for (std::size_t i = 0; i < values; ++i) {
        to[i] = Combine::apply(Combine::apply(to[i], one[i]), two[i]);
    }
}

/// For operations whose joint loop compilers do not vectorise: two passes over a block that stays
/// in the first-level cache between them.
template <typename T, typename Combine>
void joint_in_blocks(void* target, const void* first, const void* second, std::size_t count) {
    constexpr std::size_t block = 4096 / sizeof(T);
    T* to = static_cast<T*>(target);
    const T* one = static_cast<const T*>(first);
    const T* two = static_cast<const T*>(second);
    for (std::size_t begin = 0; begin < count; begin += block) {
        const std::size_t size = std::min(block, count - begin);
        reduce<T, Combine>(to + begin, one + begin, size);
        reduce<T, Combine>(to + begin, two + begin, size);
    }
}

template <typename T, typename Combine>
constexpr ReduceKernels blocked_kernels_of() {
    return {&reduce<T, Combine>, &joint_in_blocks<T, Combine>};
}

template <typename T, typename Combine, std::size_t Width = 1>
constexpr ReduceKernels kernels_of() {
    return {&reduce<T, Combine, Width>, &joint<T, Combine, Width>};
}

constexpr void set(Row& row, Operation operation, ReduceKernels kernels) {
    row[static_cast<std::size_t>(operation)] = kernels;
}

}  // namespace trefoil::kernels
