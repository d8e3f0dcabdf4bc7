// SPDX-License-Identifier: BSD-3-Clause
// Names and sizes of the element types and operations, and the way to their kernels.
#include "threads/reduce.hpp"

#include <array>

#include "threads/reduce_kernels.hpp"

namespace trefoil {

namespace {

struct TypeInfo {
    std::string_view name;
    std::size_t bytes;
};
constexpr std::array<TypeInfo, datatype_count> types{{{"int8", 1},
                                                      {"int16", 2},
                                                      {"int32", 4},
                                                      {"int64", 8},
                                                      {"uint8", 1},
                                                      {"uint16", 2},
                                                      {"uint32", 4},
                                                      {"uint64", 8},
                                                      {"float16", 2},
                                                      {"bfloat16", 2},
                                                      {"float", 4},
                                                      {"double", 8},
                                                      {"complex-float", 8},
                                                      {"complex-double", 16}}};

constexpr std::array<std::string_view, operation_count> operations{
    "sum", "prod", "min", "max", "band", "bor", "bxor", "land", "lor", "lxor"};

// The enumerations arrive from C as plain integers: a value outside is "unknown", not undefined.
bool known(DataType type) {
    return static_cast<int>(type) < datatype_count;
}
bool known(Operation operation) {
    return static_cast<int>(operation) < operation_count;
}

const kernels::Row& row_of(DataType type) {
    if (type <= DataType::uint64) {
        return kernels::integer_row(type);
    }
    if (type <= DataType::bfloat16) {
        return kernels::half_row(type);
    }
    return type <= DataType::float64 ? kernels::real_row(type) : kernels::complex_row(type);
}

}  // namespace

std::string_view to_string(DataType type) {
    return known(type) ? types[static_cast<std::size_t>(type)].name : "unknown type";
}

std::string_view to_string(Operation operation) {
    return known(operation) ? operations[static_cast<std::size_t>(operation)] : "unknown operation";
}

std::size_t size_of(DataType type) {
    return known(type) ? types[static_cast<std::size_t>(type)].bytes : 0;
}

ReduceKernels reduce_kernels(DataType type, Operation operation) {
    if (!known(type) || !known(operation)) {
        return {};
    }
    return row_of(type)[static_cast<std::size_t>(operation)];
}

}  // namespace trefoil
