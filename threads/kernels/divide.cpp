// SPDX-License-Identifier: BSD-3-Clause
// Division of arrays by the number of ranks: the end of an average.
#include <cstdint>
#include <type_traits>

#include "threads/kernels/reduce.hpp"
#include "threads/kernels/reduce_half.hpp"

namespace trefoil {

namespace {

/// In 64 bits, because a short type may not hold the number of ranks.
template <typename T>
using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;

template <typename T>
void divide_integers(void* target, std::size_t count, std::uint32_t ranks) {
    auto* const to = static_cast<T*>(target);
    const auto by = static_cast<Wide<T>>(ranks);
    for (std::size_t i = 0; i < count; ++i) {
        to[i] = static_cast<T>(static_cast<Wide<T>>(to[i]) / by);
    }
}

template <typename T, std::size_t width = 1>
void divide_reals(void* target, std::size_t count, std::uint32_t ranks) {
    auto* const to = static_cast<T*>(target);
    const auto by = static_cast<T>(ranks);
    for (std::size_t i = 0; i < count * width; ++i) {
        to[i] /= by;
    }
}

template <float (*widen)(std::uint16_t), std::uint16_t (*narrow)(float)>
void divide_halves(void* target, std::size_t count, std::uint32_t ranks) {
    auto* const to = static_cast<std::uint16_t*>(target);
    const auto by = static_cast<float>(ranks);
    for (std::size_t i = 0; i < count; ++i) {
        to[i] = narrow(widen(to[i]) / by);
    }
}

}  // namespace

DivideKernel divide_kernel(DataType type) {
    using enum DataType;
    switch (type) {
        case int8:
            return divide_integers<std::int8_t>;
        case int16:
            return divide_integers<std::int16_t>;
        case int32:
            return divide_integers<std::int32_t>;
        case int64:
            return divide_integers<std::int64_t>;
        case uint8:
            return divide_integers<std::uint8_t>;
        case uint16:
            return divide_integers<std::uint16_t>;
        case uint32:
            return divide_integers<std::uint32_t>;
        case uint64:
            return divide_integers<std::uint64_t>;
        case float16:
            return divide_halves<half::widen_float16, half::narrow_float16>;
        case bfloat16:
            return divide_halves<half::widen_bfloat16, half::narrow_bfloat16>;
        case float32:
            return divide_reals<float>;
        case float64:
            return divide_reals<double>;
        case complex_float:
            return divide_reals<float, 2>;
        case complex_double:
            return divide_reals<double, 2>;
        case float_int:
        case double_int:
        case long_int:
        case int_int:
        case short_int:
            break;
    }
    return nullptr;
}

}  // namespace trefoil
