// SPDX-License-Identifier: BSD-3-Clause
// What the C++ wrapper moves and reduces: element types, and what holds several of them.
#pragma once

#include <trefoil/trefoil.h>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <type_traits>

namespace trefoil {

/// An element of TREFOIL_MINLOC and TREFOIL_MAXLOC: of equal values the lowest index wins. T is
/// float, double, long, int or short.
template <typename T>
struct ValueIndex {
    T value;
    int index;
    friend bool operator==(const ValueIndex&, const ValueIndex&) = default;
};

/// The 16-bit floating-point types, as bits: conversions are the program's.
struct Float16 {
    std::uint16_t bits;
    friend bool operator==(const Float16&, const Float16&) = default;
};
struct BFloat16 {
    std::uint16_t bits;
    friend bool operator==(const BFloat16&, const BFloat16&) = default;
};

namespace detail {

template <typename T, typename... Types>
inline constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);

}  // namespace detail

template <typename T>
inline constexpr bool is_pair_type =
    detail::is_one_of<T, ValueIndex<float>, ValueIndex<double>, ValueIndex<long>, ValueIndex<int>,
                      ValueIndex<short>>;

template <typename T>
inline constexpr bool is_element_type =
    (std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8) ||
    detail::is_one_of<T, float, double, std::complex<float>, std::complex<double>, Float16,
                      BFloat16> ||
    is_pair_type<T>;

/// The datatype of a C++ type.
template <typename T>
constexpr trefoil_datatype_t datatype_of() {
    static_assert(is_element_type<T>,
                  "Trefoil knows integers, float, double, their complex, Float16, BFloat16, and "
                  "ValueIndex of float, double, long, int or short; for others use an Operation, "
                  "or bytes");
    if constexpr (std::is_same_v<T, float>) {
        return TREFOIL_FLOAT;
    } else if constexpr (std::is_same_v<T, double>) {
        return TREFOIL_DOUBLE;
    } else if constexpr (std::is_same_v<T, std::complex<float>>) {
        return TREFOIL_COMPLEX_FLOAT;
    } else if constexpr (std::is_same_v<T, std::complex<double>>) {
        return TREFOIL_COMPLEX_DOUBLE;
    } else if constexpr (std::is_same_v<T, Float16>) {
        return TREFOIL_FLOAT16;
    } else if constexpr (std::is_same_v<T, BFloat16>) {
        return TREFOIL_BFLOAT16;
    } else if constexpr (is_pair_type<T>) {
        using Value = decltype(T::value);
        return std::is_same_v<Value, float>    ? TREFOIL_FLOAT_INT
               : std::is_same_v<Value, double> ? TREFOIL_DOUBLE_INT
               : std::is_same_v<Value, long>   ? TREFOIL_LONG_INT
               : std::is_same_v<Value, int>    ? TREFOIL_2INT
                                               : TREFOIL_SHORT_INT;
    } else {
        constexpr int by_size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
        return static_cast<trefoil_datatype_t>(
            by_size + (std::is_signed_v<T> ? TREFOIL_INT8 : TREFOIL_UINT8));
    }
}

/// Bytes of an element; 0: there is no such type.
inline std::size_t datatype_size(trefoil_datatype_t datatype) {
    return trefoil_datatype_size(datatype);
}

/// Stands where the C interface has TREFOIL_IN_PLACE.
struct InPlace {};
inline constexpr InPlace in_place{};

/// Elements side by side, as in a span, vector or array.
template <typename R>
concept Readable = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;
template <typename R>
concept Writable =
    Readable<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

template <Readable R>
using Element = std::ranges::range_value_t<R>;

template <typename B>
concept IsInPlace = std::same_as<std::remove_cvref_t<B>, InPlace>;
/// A send argument for a buffer of elements of type T.
template <typename S, typename T>
concept SendOf = IsInPlace<S> ||(Readable<S>&& std::same_as<std::ranges::range_value_t<S>, T>);
template <typename R, typename T>
concept ReceiveOf = IsInPlace<R> ||(Writable<R>&& std::same_as<std::ranges::range_value_t<R>, T>);

}  // namespace trefoil
