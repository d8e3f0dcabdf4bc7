// SPDX-License-Identifier: BSD-3-Clause
// The way from type and operation to their kernels.
#include "threads/kernels/reduce.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <array>
#include <vector>

#include "threads/kernels/reduce_kernels.hpp"
#include "topo/variable.hpp"

namespace trefoil {

namespace {

constexpr std::array<std::string_view, instructions_count> instruction_sets {
    "baseline",
#if defined(__x86_64__)
        "avx2", "avx512", "avx512-fp16"
#elif defined(__aarch64__)
        "neon-fp16", "sve"
#endif
};

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

Instructions best_of_processor() {
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
#elif defined(__aarch64__)
    const unsigned long has = getauxval(AT_HWCAP);
    constexpr unsigned long half = HWCAP_FPHP | HWCAP_ASIMDHP;
    if ((has & half) == half) {
        return (has & HWCAP_SVE) != 0 ? Instructions::sve : Instructions::neon_fp16;
    }
#endif
    return Instructions::baseline;
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

std::string_view to_string(Instructions instructions) {
    return instruction_sets[static_cast<std::size_t>(instructions)];
}

std::optional<Instructions> instructions_named(std::string_view name) {
    static const Instructions most = best_of_processor();
    for (int i = 0; i <= static_cast<int>(most); ++i) {
        if (name == to_string(static_cast<Instructions>(i))) {
            return static_cast<Instructions>(i);
        }
    }
    return std::nullopt;
}

std::string names_of_instructions() {
    std::vector<std::string_view> names;
    for (const std::string_view name : instruction_sets) {
        if (instructions_named(name)) {
            names.push_back(name);
        }
    }
    return enumerate(names);
}

Instructions best_instructions() {
    static const Instructions best = [] {
        const auto name = environment_variable("TREFOIL_INSTRUCTIONS");
        const auto asked = name ? instructions_named(*name) : std::nullopt;
        return asked ? *asked : best_of_processor();
    }();
    return best;
}

ReduceKernels reduce_kernels(DataType type, Operation operation) {
    return reduce_kernels(type, operation, best_instructions());
}

ReduceKernels reduce_kernels(DataType type, Operation operation, Instructions instructions) {
    if (!is_known(type) || !is_known(operation)) {
        return {};
    }
    const kernels::Row& row = traits_of(type).kernels->rows[static_cast<std::size_t>(instructions)];
    if (operation != Operation::average) {
        return row[static_cast<std::size_t>(operation)];
    }
    ReduceKernels sum = row[static_cast<std::size_t>(Operation::sum)];
    sum.divide = divide_kernel(type);
    return sum;
}

bool same_in_any_order(DataType type, Operation operation) {
    switch (traits_of(type).type_class) {
        case TypeClass::signed_integer:
        case TypeClass::unsigned_integer:
            return true;
        case TypeClass::floating:
        case TypeClass::pair:
            return operation != Operation::sum && operation != Operation::prod &&
                   operation != Operation::average;
        case TypeClass::complex:
            break;
    }
    return false;
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
