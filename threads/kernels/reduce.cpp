// SPDX-License-Identifier: BSD-3-Clause
// Names and sizes of the element types and operations, and the way to their kernels.
#include "threads/kernels/reduce.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <array>
#include <vector>

#include "threads/kernels/reduce_kernels.hpp"

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
                                                      {"complex-double", 16},
                                                      {"float-int", 8},
                                                      {"double-int", 16},
                                                      {"long-int", 2 * sizeof(long)},
                                                      {"2int", 8},
                                                      {"short-int", 8}}};

constexpr std::array<std::string_view, operation_count> operations{
    "sum", "prod", "min", "max", "band", "bor", "bxor", "land", "lor", "lxor", "minloc", "maxloc"};

constexpr std::array<std::string_view, instructions_count> instruction_sets{
    "baseline", "avx2", "avx512", "avx512-fp16"};

#if defined(__x86_64__)
// By the processor's own word: not every compiler knows these names.
bool has_f16c() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & (1U << 29)) != 0;
}
bool has_avx512_fp16() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & (1U << 23)) != 0;
}
#endif

Instructions find_instructions() {
#if defined(__x86_64__)
    const bool avx2 = __builtin_cpu_supports("avx2") && has_f16c();
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (avx2 && avx512) {
        return has_avx512_fp16() ? Instructions::avx512_fp16 : Instructions::avx512;
    }
    if (avx2) {
        return Instructions::avx2;
    }
#endif
    return Instructions::baseline;
}

// The enumerations arrive from C as plain integers: a value outside is "unknown", not undefined.
bool known(DataType type) {
    return static_cast<int>(type) < datatype_count;
}
bool known(Operation operation) {
    return static_cast<int>(operation) < operation_count;
}

const kernels::Row& row_of(DataType type, Instructions instructions) {
    if (type <= DataType::uint64) {
        return kernels::integer_row(type, instructions);
    }
    if (type <= DataType::bfloat16) {
        return kernels::half_row(type, instructions);
    }
    if (type <= DataType::float64) {
        return kernels::real_row(type, instructions);
    }
    return type <= DataType::complex_double ? kernels::complex_row(type, instructions)
                                            : kernels::pair_row(type, instructions);
}

/// "a, b and c"
std::string enumerate(const std::vector<std::string_view>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += i == 0 ? "" : i + 1 < names.size() ? ", " : " and ";
        text += names[i];
    }
    return text;
}

}  // namespace

std::string_view to_string(DataType type) {
    return known(type) ? types[static_cast<std::size_t>(type)].name : "unknown type";
}

std::string_view to_string(Operation operation) {
    return known(operation) ? operations[static_cast<std::size_t>(operation)] : "unknown operation";
}

std::string_view to_string(Instructions instructions) {
    return instruction_sets[static_cast<std::size_t>(instructions)];
}

std::size_t size_of(DataType type) {
    return known(type) ? types[static_cast<std::size_t>(type)].bytes : 0;
}

bool is_pair(DataType type) {
    return type >= DataType::float_int && known(type);
}

DataType value_type(DataType type) {
    switch (type) {
        case DataType::float_int:
            return DataType::float32;
        case DataType::double_int:
            return DataType::float64;
        case DataType::long_int:
            return sizeof(long) == 8 ? DataType::int64 : DataType::int32;
        case DataType::int_int:
            return DataType::int32;
        case DataType::short_int:
            return DataType::int16;
        default:
            return type;
    }
}

Instructions best_instructions() {
    static const Instructions best = find_instructions();
    return best;
}

ReduceKernels reduce_kernels(DataType type, Operation operation) {
    return reduce_kernels(type, operation, best_instructions());
}

ReduceKernels reduce_kernels(DataType type, Operation operation, Instructions instructions) {
    if (!known(type) || !known(operation)) {
        return {};
    }
    return row_of(type, instructions)[static_cast<std::size_t>(operation)];
}

std::string refusal(DataType type, Operation operation) {
    if (reduce_kernels(type, operation).reduce != nullptr) {
        return {};
    }
    std::vector<std::string_view> of_type, of_operation;
    for (int i = 0; i < operation_count; ++i) {
        if (reduce_kernels(type, static_cast<Operation>(i)).reduce != nullptr) {
            of_type.push_back(to_string(static_cast<Operation>(i)));
        }
    }
    for (int i = 0; i < datatype_count; ++i) {
        if (reduce_kernels(static_cast<DataType>(i), operation).reduce != nullptr) {
            of_operation.push_back(to_string(static_cast<DataType>(i)));
        }
    }
    const std::string type_name(to_string(type)), name(to_string(operation));
    return name + " makes no sense for " + type_name + "; " + type_name + " takes " +
           enumerate(of_type) + ", and " + name + " is for " + enumerate(of_operation);
}

}  // namespace trefoil
