// SPDX-License-Identifier: BSD-3-Clause
// The tables of element types and operations.
#include "threads/kernels/datatype.hpp"

#include <cstring>

#include "threads/kernels/reduce_kernels.hpp"

namespace trefoil {

namespace {

template <typename T>
void from_double(double value, void* element) {
    const T converted = static_cast<T>(value);
    std::memcpy(element, &converted, sizeof converted);
}

template <typename T>
double to_double(const void* element) {
    T value;
    std::memcpy(&value, element, sizeof value);
    return static_cast<double>(value);
}

template <std::uint16_t (*narrow)(float)>
void half_from_double(double value, void* element) {
    const std::uint16_t bits = narrow(static_cast<float>(value));
    std::memcpy(element, &bits, sizeof bits);
}

template <float (*widen)(std::uint16_t)>
double half_to_double(const void* element) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, element, sizeof bits);
    return static_cast<double>(widen(bits));
}

constexpr DataType of_long = sizeof(long) == 8 ? DataType::int64 : DataType::int32;

using enum DataType;
using enum TypeClass;
constexpr std::array<DataTypeTraits, datatype_count> rows{{
    {int8, "int8", 1, signed_integer, int8, &kernels::int8},
    {int16, "int16", 2, signed_integer, int16, &kernels::int16},
    {int32, "int32", 4, signed_integer, int32, &kernels::int32, {"int"}},
    {int64, "int64", 8, signed_integer, int64, &kernels::int64},
    {uint8, "uint8", 1, unsigned_integer, uint8, &kernels::uint8},
    {uint16, "uint16", 2, unsigned_integer, uint16, &kernels::uint16},
    {uint32, "uint32", 4, unsigned_integer, uint32, &kernels::uint32},
    {uint64, "uint64", 8, unsigned_integer, uint64, &kernels::uint64},
    {float16,
     "float16",
     2,
     floating,
     float16,
     &kernels::float16,
     {"half", "fp16"},
     1 << 11,
     half_from_double<to_float16>,
     half_to_double<to_float_from_float16>},
    {bfloat16,
     "bfloat16",
     2,
     floating,
     bfloat16,
     &kernels::bfloat16,
     {"bf16"},
     1 << 8,
     half_from_double<to_bfloat16>,
     half_to_double<to_float_from_bfloat16>},
    {float32,
     "float",
     4,
     floating,
     float32,
     &kernels::float32,
     {"float32"},
     1 << 24,
     from_double<float>,
     to_double<float>},
    {float64,
     "double",
     8,
     floating,
     float64,
     &kernels::float64,
     {"float64"},
     std::int64_t{1} << 53,
     from_double<double>,
     to_double<double>},
    {complex_float, "complex-float", 8, complex, float32, &kernels::complex_float},
    {complex_double, "complex-double", 16, complex, float64, &kernels::complex_double},
    {float_int, "float-int", 8, pair, float32, &kernels::float_int},
    {double_int, "double-int", 16, pair, float64, &kernels::double_int},
    {long_int, "long-int", 2 * sizeof(long), pair, of_long, &kernels::long_int},
    {int_int, "2int", 8, pair, int32, &kernels::int_int, {"int-int"}},
    {short_int, "short-int", 8, pair, int16, &kernels::short_int},
}};

constexpr bool rows_are_in_order() {
    for (int i = 0; i < datatype_count; ++i) {
        if (rows[static_cast<std::size_t>(i)].type != static_cast<DataType>(i)) {
            return false;
        }
    }
    return true;
}
static_assert(rows_are_in_order(), "rows stand in the order of the enumeration");

constexpr std::array<std::string_view, operation_count> operations{
    "sum",  "prod", "min",  "max",    "band",   "bor", "bxor",
    "land", "lor",  "lxor", "minloc", "maxloc", "avg"};

}  // namespace

const DataTypeTraits& traits_of(DataType type) {
    return rows[static_cast<std::size_t>(type)];
}

std::string_view to_string(DataType type) {
    return is_known(type) ? traits_of(type).name : "unknown type";
}

std::string_view to_string(Operation operation) {
    return is_known(operation) ? operations[static_cast<std::size_t>(operation)]
                               : "unknown operation";
}

std::size_t size_of(DataType type) {
    return is_known(type) ? traits_of(type).bytes : 0;
}

}  // namespace trefoil
