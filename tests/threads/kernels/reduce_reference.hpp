// SPDX-License-Identifier: BSD-3-Clause
// What a reduction of two elements must give, written for clarity: one element at a time, half
// types by exact arithmetic in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "threads/kernels/reduce.hpp"

namespace reference {

using trefoil::DataType;
using trefoil::Operation;

/// A binary floating-point format of 16 bits.
struct HalfFormat {
    int fraction_bits;
    int bias;
};
inline constexpr HalfFormat float16{10, 15};
inline constexpr HalfFormat bfloat16{7, 127};

inline double decode(HalfFormat format, std::uint16_t bits) {
    const int scale = 1 << format.fraction_bits;
    const int exponent = (bits & 0x7fff) >> format.fraction_bits;
    const int fraction = bits & (scale - 1);
    const int largest = (1 << (15 - format.fraction_bits)) - 1;
    double value = 0;
    if (exponent == largest) {
        value = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
    } else if (exponent == 0) {
        value = std::ldexp(fraction, 1 - format.bias - format.fraction_bits);
    } else {
        value = std::ldexp(scale + fraction, exponent - format.bias - format.fraction_bits);
    }
    return std::copysign(value, (bits & 0x8000) != 0 ? -1.0 : 1.0);
}

/// Nearest, ties to even; every NaN is the positive quiet one without payload.
inline std::uint16_t encode(HalfFormat format, double value) {
    const int scale = 1 << format.fraction_bits;
    const int infinity = 0x7fff & ~(scale - 1);
    if (std::isnan(value)) {
        return static_cast<std::uint16_t>(infinity | (scale / 2));
    }
    const int sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(value);
    if (std::isinf(magnitude)) {
        return static_cast<std::uint16_t>(sign | infinity);
    }
    const int exponent =
        magnitude == 0 ? 1 - format.bias : std::max(std::ilogb(magnitude), 1 - format.bias);
    // Counted in units of the last place the number is below 2 * scale; nearbyint rounds to even,
    // and what carries over runs into the next exponent or into infinity by itself.
    const auto units =
        static_cast<int>(std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent)));
    const int bits = (exponent + format.bias - 1) * scale + units;
    return static_cast<std::uint16_t>(sign | std::min(bits, infinity));
}

template <typename T>
std::optional<T> combine_logical(Operation operation, T a, T b) {
    const bool x = a != T{0};
    const bool y = b != T{0};
    switch (operation) {
        case Operation::logical_and:
            return static_cast<T>(x && y);
        case Operation::logical_or:
            return static_cast<T>(x || y);
        case Operation::logical_xor:
            return static_cast<T>(x != y);
        default:
            return std::nullopt;
    }
}

template <typename T>
std::optional<T> combine_integer(Operation operation, T a, T b) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    switch (operation) {
        case Operation::sum:
            return static_cast<T>(x + y);
        case Operation::prod:
            return static_cast<T>(x * y);
        case Operation::min:
            return std::min(a, b);
        case Operation::max:
            return std::max(a, b);
        case Operation::bitwise_and:
            return static_cast<T>(x & y);
        case Operation::bitwise_or:
            return static_cast<T>(x | y);
        case Operation::bitwise_xor:
            return static_cast<T>(x ^ y);
        default:
            return combine_logical(operation, a, b);
    }
}

template <typename T>
std::optional<T> combine_real(Operation operation, T a, T b) {
    const bool unordered = std::isnan(a) || std::isnan(b);
    const bool a_first = a < b || (a == b && std::signbit(a));  // -0 lies below +0
    switch (operation) {
        case Operation::sum:
            return a + b;
        case Operation::prod:
            return a * b;
        case Operation::min:
            return unordered ? std::numeric_limits<T>::quiet_NaN() : (a_first ? a : b);
        case Operation::max:
            return unordered ? std::numeric_limits<T>::quiet_NaN() : (a_first ? b : a);
        default:
            return combine_logical(operation, a, b);
    }
}

template <typename T>
std::optional<std::complex<T>> combine_complex(Operation operation, std::complex<T> a,
                                               std::complex<T> b) {
    switch (operation) {
        case Operation::sum:
            return a + b;
        case Operation::prod:
            return std::complex<T>{a.real() * b.real() - a.imag() * b.imag(),
                                   a.real() * b.imag() + a.imag() * b.real()};
        default:
            return std::nullopt;
    }
}

inline std::optional<std::uint16_t> combine_half(HalfFormat format, Operation operation,
                                                 std::uint16_t a, std::uint16_t b) {
    const auto result = combine_real(operation, static_cast<float>(decode(format, a)),
                                     static_cast<float>(decode(format, b)));
    return result ? std::optional{encode(format, *result)} : std::nullopt;
}

/// A struct { T value; int index; }: of equal values (zeros of either sign, all NaN) the lower
/// index. The padding of the result is 0.
template <typename T>
bool locate(Operation operation, void* target, const void* source) {
    struct Pair {
        T value;
        int index;
    };
    if (operation != Operation::minloc && operation != Operation::maxloc) {
        return false;
    }
    Pair a;
    Pair b;
    std::memcpy(&a, target, sizeof a);
    std::memcpy(&b, source, sizeof b);
    const Operation extreme = operation == Operation::minloc ? Operation::min : Operation::max;
    T best{};
    bool equal = a.value == b.value;
    if constexpr (std::is_floating_point_v<T>) {
        best = *combine_real(extreme, a.value, b.value);
        equal = equal || (std::isnan(a.value) && std::isnan(b.value));
    } else {
        best = *combine_integer(extreme, a.value, b.value);
    }
    // A NaN among them is the best one; it is equal to nothing.
    const bool from_a = std::isnan(static_cast<double>(best))
                            ? std::isnan(static_cast<double>(a.value))
                            : a.value == best;
    const int index = equal ? std::min(a.index, b.index) : from_a ? a.index : b.index;
    std::memset(target, 0, sizeof(Pair));
    std::memcpy(target, &best, sizeof best);
    std::memcpy(static_cast<char*>(target) + offsetof(Pair, index), &index, sizeof index);
    return true;
}

/// Reads two T, combines them, writes the first; false when `combine` refuses.
template <typename T, typename Combine>
bool on_bytes(void* target, const void* source, Combine combine) {
    T a;
    T b;
    std::memcpy(&a, target, sizeof(T));
    std::memcpy(&b, source, sizeof(T));
    const std::optional<T> result = combine(a, b);
    if (result) {
        std::memcpy(target, &*result, sizeof(T));
    }
    return result.has_value();
}

/// One element: target = target op source, of an average what comes before the division. False: the
/// pair makes no sense.
inline bool apply(DataType type, Operation asked, void* target, const void* source) {
    const Operation operation = asked == Operation::average ? Operation::sum : asked;
    const auto with = [&]<typename T>(T) {
        return on_bytes<T>(target, source, [operation](T a, T b) {
            if constexpr (std::is_integral_v<T>) {
                return combine_integer(operation, a, b);
            } else if constexpr (std::is_floating_point_v<T>) {
                return combine_real(operation, a, b);
            } else {
                return combine_complex(operation, a, b);
            }
        });
    };
    const auto with_half = [&](HalfFormat format) {
        return on_bytes<std::uint16_t>(target, source, [&](std::uint16_t a, std::uint16_t b) {
            return combine_half(format, operation, a, b);
        });
    };
    switch (type) {
        case DataType::int8:
            return with(std::int8_t{});
        case DataType::int16:
            return with(std::int16_t{});
        case DataType::int32:
            return with(std::int32_t{});
        case DataType::int64:
            return with(std::int64_t{});
        case DataType::uint8:
            return with(std::uint8_t{});
        case DataType::uint16:
            return with(std::uint16_t{});
        case DataType::uint32:
            return with(std::uint32_t{});
        case DataType::uint64:
            return with(std::uint64_t{});
        case DataType::float16:
            return with_half(float16);
        case DataType::bfloat16:
            return with_half(bfloat16);
        case DataType::float32:
            return with(float{});
        case DataType::float64:
            return with(double{});
        case DataType::complex_float:
            return with(std::complex<float>{});
        case DataType::complex_double:
            return with(std::complex<double>{});
        case DataType::float_int:
            return locate<float>(operation, target, source);
        case DataType::double_int:
            return locate<double>(operation, target, source);
        case DataType::long_int:
            return locate<long>(operation, target, source);
        case DataType::int_int:
            return locate<int>(operation, target, source);
        case DataType::short_int:
            return locate<short>(operation, target, source);
    }
    return false;
}

}  // namespace reference
