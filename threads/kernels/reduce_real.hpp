// SPDX-License-Identifier: BSD-3-Clause
// The operations on float and double, shared by the real, the 16-bit and the pair kernels.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace trefoil::kernels::real {

template <typename T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

struct Sum {
    template <typename T>
    static T apply(T a, T b) {
        return a + b;
    }
};

struct Product {
    template <typename T>
    static T apply(T a, T b) {
        return a * b;
    }
};

// Min and max are commutative and associative to the last bit, so that ranks which combine in
// different orders agree: -0 lies below +0 (equal numbers differ at most in the sign bit: `or`
// keeps a minus, `and` drops it), and any NaN gives the one quiet NaN.
template <typename T>
inline T unless_nan(T a, T b, T ordered) {
    const bool unordered = (a != a) | (b != b);
    return unordered ? std::numeric_limits<T>::quiet_NaN() : ordered;
}

struct Minimum {
    template <typename T>
    static T apply(T a, T b) {
        const T equal = std::bit_cast<T>(std::bit_cast<Bits<T>>(a) | std::bit_cast<Bits<T>>(b));
        const T not_above = a < b ? a : equal;
        return unless_nan(a, b, b < a ? b : not_above);
    }
};

struct Maximum {
    template <typename T>
    static T apply(T a, T b) {
        const T equal = std::bit_cast<T>(std::bit_cast<Bits<T>>(a) & std::bit_cast<Bits<T>>(b));
        const T not_below = a > b ? a : equal;
        return unless_nan(a, b, b > a ? b : not_below);
    }
};

// A NaN is not zero and counts as true, as in C.
struct LogicalAnd {
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>((a != 0) & (b != 0));
    }
};

struct LogicalOr {
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>((a != 0) | (b != 0));
    }
};

struct LogicalXor {
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>((a != 0) ^ (b != 0));
    }
};

}  // namespace trefoil::kernels::real
