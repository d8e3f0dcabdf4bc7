// SPDX-License-Identifier: BSD-3-Clause
// The element types and the operations: one row of traits each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trefoil {

/// Element types. The values equal trefoil_datatype_t.
enum class DataType : std::uint8_t {
    int8 = 0,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    bfloat16,
    float32,
    float64,
    complex_float,
    complex_double,
    float_int,  ///< pairs: struct { float value; int index; }, and so on
    double_int,
    long_int,
    int_int,
    short_int
};
inline constexpr int datatype_count = static_cast<int>(DataType::short_int) + 1;

/// Operations. The values equal trefoil_op_t.
enum class Operation : std::uint8_t {
    sum = 0,
    prod,
    min,
    max,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    logical_and,
    logical_or,
    logical_xor,
    minloc,
    maxloc,
    average  ///< the sum, divided by the number of ranks at the end
};
inline constexpr int operation_count = static_cast<int>(Operation::average) + 1;

enum class TypeClass : std::uint8_t { signed_integer, unsigned_integer, floating, complex, pair };

namespace kernels {
struct Table;
}

struct DataTypeTraits {
    DataType type = DataType::int8;
    std::string_view name;  ///< as users type it: "float", "int32", "complex-float", "float-int"
    std::size_t bytes = 0;
    TypeClass type_class = TypeClass::signed_integer;
    /// What it is made of: the real type of a complex one, the value's of a pair; else itself.
    DataType part = DataType::int8;
    const kernels::Table* kernels = nullptr;
    std::array<std::string_view, 2> other_names = {};  ///< which `trefoil perf` knows, too
    /// Floating point: integers up to this magnitude are exact, and conversions of one element.
    std::int64_t exact_integers = 0;
    void (*from_double)(double value, void* element) = nullptr;
    double (*to_double)(const void* element) = nullptr;
};

// The enumerations arrive from C as plain integers: a value outside is "unknown", not undefined.
constexpr bool is_known(DataType type) {
    return static_cast<int>(type) < datatype_count;
}
constexpr bool is_known(Operation operation) {
    return static_cast<int>(operation) < operation_count;
}

/// The row of a known type.
const DataTypeTraits& traits_of(DataType type);

std::string_view to_string(DataType type);
/// "sum", "prod", "avg", ... as users type them.
std::string_view to_string(Operation operation);
/// 0 for an unknown type.
std::size_t size_of(DataType type);

inline bool is_pair(DataType type) {
    return traits_of(type).type_class == TypeClass::pair;
}
/// Reductions depend on the order.
inline bool is_floating(DataType type) {
    const TypeClass c = traits_of(type).type_class;
    return c == TypeClass::floating || c == TypeClass::complex;
}

}  // namespace trefoil
