// SPDX-License-Identifier: BSD-3-Clause
// Reduction kernels of the integers. Sums and products wrap: they are computed on the unsigned
// type, which gives the same bits and is defined. Only min and max look at the sign.
#include <type_traits>

#include "threads/kernels/reduce_kernels.hpp"

namespace trefoil::kernels {

namespace {

// At least 32 bits wide and unsigned, so that a product of two uint16 is not a signed overflow.
template <typename T>
using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

struct Sum {
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
    }
};

struct Product {
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
    }
};

struct Minimum {
    template <typename T>
    static T apply(T a, T b) {
        return a < b ? a : b;
    }
};

struct Maximum {
    template <typename T>
    static T apply(T a, T b) {
        return a > b ? a : b;
    }
};

struct BitwiseAnd {
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>(a & b);
    }
};

struct BitwiseOr {
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>(a | b);
    }
};

struct BitwiseXor {
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>(a ^ b);
    }
};

struct LogicalAnd {
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>((a != 0) & (b != 0));
    }
};

struct LogicalOr {
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>((a | b) != 0);
    }
};

struct LogicalXor {
    template <typename T>
    static T apply(T a, T b) {
        return static_cast<T>((a != 0) ^ (b != 0));
    }
};

/// T gives the order for min and max; everything else is done on its unsigned twin.
template <Instructions instructions, typename T>
constexpr Row make_row() {
    using U = std::make_unsigned_t<T>;
    Row row{};
    set(row, Operation::sum, kernels_of<instructions, Plain<U, Sum>>());
    set(row, Operation::prod, kernels_of<instructions, Plain<U, Product>>());
    set(row, Operation::min, kernels_of<instructions, Plain<T, Minimum>>());
    set(row, Operation::max, kernels_of<instructions, Plain<T, Maximum>>());
    set(row, Operation::bitwise_and, kernels_of<instructions, Plain<U, BitwiseAnd>>());
    set(row, Operation::bitwise_or, kernels_of<instructions, Plain<U, BitwiseOr>>());
    set(row, Operation::bitwise_xor, kernels_of<instructions, Plain<U, BitwiseXor>>());
    set(row, Operation::logical_and, kernels_of<instructions, Plain<U, LogicalAnd>>());
    set(row, Operation::logical_or, kernels_of<instructions, Plain<U, LogicalOr>>());
    set(row, Operation::logical_xor, kernels_of<instructions, Plain<U, LogicalXor>>());
    return row;
}

template <typename T>
constexpr Table table = table_by_instructions([]<Instructions instructions>() {
    return make_row<instructions, T>();
});

}  // namespace

constexpr Table int8 = table<std::int8_t>;
constexpr Table int16 = table<std::int16_t>;
constexpr Table int32 = table<std::int32_t>;
constexpr Table int64 = table<std::int64_t>;
constexpr Table uint8 = table<std::uint8_t>;
constexpr Table uint16 = table<std::uint16_t>;
constexpr Table uint32 = table<std::uint32_t>;
constexpr Table uint64 = table<std::uint64_t>;

}  // namespace trefoil::kernels
