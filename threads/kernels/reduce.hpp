// SPDX-License-Identifier: BSD-3-Clause
// Reduction kernels: target = first op second for every type and operation, and a fused pass for
// the joint reduction of two arrivals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "threads/kernels/datatype.hpp"
#include "threads/kernels/user_operation.hpp"

namespace trefoil {

/// target[i] = first[i] op second[i] for `count` elements. The target may be either of the two, and
/// overlaps neither otherwise. Any alignment that suits the element type. float16 and bfloat16 are
/// widened to float, combined and rounded to nearest even. Integer sums and products wrap. Min and
/// max of floats give the same bits in any order: -0 lies below +0 and a NaN on either side gives
/// the quiet NaN. Which NaN a sum or product gives is not specified (except for the 16-bit types:
/// the quiet one). Minloc and maxloc give the value that min and max give and the lowest index of
/// all elements that have it, zeros of either sign being equal and all NaN, too; padding becomes
/// zero. Thread-safe.
using ReduceKernel = void (*)(void* target, const void* first, const void* second,
                              std::size_t count);

/// target[i] = (first[i] op second[i]) op third[i] in one pass: the same bits as two ReduceKernel
/// calls (half types too: each op rounds), with one store of the target. That may be `first` or
/// `second`, and overlaps none of them otherwise.
using JointReduceKernel = void (*)(void* target, const void* first, const void* second,
                                   const void* third, std::size_t count);

/// target[i] = target[i] / ranks for `count` elements, the end of an average. Integers: truncated
/// towards zero. Floats: rounded to nearest even; the 16-bit types are divided in float. The parts
/// of a complex number one by one. `ranks` is positive and below 2^31. Thread-safe.
using DivideKernel = void (*)(void* target, std::size_t count, std::uint32_t ranks);

struct ReduceKernels {
    ReduceKernel reduce = nullptr;  ///< null: the operation makes no sense for the type
    JointReduceKernel joint = nullptr;
    const UserOperation* user = nullptr;  ///< in place of the two
    DivideKernel divide = nullptr;        ///< of an average: what its sum ends with
    std::uint32_t ranks = 1;              ///< by how many it divides; the caller's to set

    /// As the kernel.
    void apply(void* target, const void* first, const void* second, std::size_t count) const {
        if (user == nullptr) {
            reduce(target, first, second, count);
        } else {
            user->apply(target, first, second, count);
        }
    }
    void apply_joint(void* target, const void* first, const void* second, const void* third,
                     std::size_t count) const {
        if (user == nullptr) {
            joint(target, first, second, third, count);
        } else {
            user->apply(target, first, second, count);
            user->apply(target, target, third, count);
        }
    }
};

/// Instruction sets that the kernels are compiled for, each more than the one before. All give the
/// same bits.
#if defined(__x86_64__)
enum class Instructions : std::uint8_t {
    baseline,
    avx2,    ///< with F16C
    avx512,  ///< F, BW, DQ, VL
    avx512_fp16
};
inline constexpr int instructions_count = 4;
#elif defined(__aarch64__)
enum class Instructions : std::uint8_t {
    baseline,   ///< with NEON
    neon_fp16,  ///< arithmetic on 16-bit floats
    sve         ///< of any length, with that arithmetic
};
inline constexpr int instructions_count = 3;
#else
enum class Instructions : std::uint8_t { baseline };
inline constexpr int instructions_count = 1;
#endif

std::string_view to_string(Instructions instructions);
/// Nothing where this processor has none of that name.
std::optional<Instructions> instructions_named(std::string_view name);
/// Those that this processor has, as text.
std::string names_of_instructions();
/// The best that this processor has, or what TREFOIL_INSTRUCTIONS names; found out once.
Instructions best_instructions();

/// The kernels of (type, operation) for this processor; both null when unsupported: bitwise on
/// floats and complex, min, max and logical on complex, minloc and maxloc on all but pairs, which
/// take nothing else. Logical operations give 0 or 1 in the element's type. An average reduces as a
/// sum does, and has ReduceKernels::divide.
ReduceKernels reduce_kernels(DataType type, Operation operation);
/// The same for instructions that this processor must have.
ReduceKernels reduce_kernels(DataType type, Operation operation, Instructions instructions);

/// Null for pairs.
DivideKernel divide_kernel(DataType type);

/// Why a known type does not take a known operation, and what goes with either of them; empty: it
/// does.
std::string refusal(DataType type, Operation operation);

/// Whether the operation gives the same bits in whatever order elements of the type are combined:
/// all operations of integers, which wrap; min, max and logical operations of floats; minloc and
/// maxloc.
bool same_in_any_order(DataType type, Operation operation);

/// Conversions used by the kernels, by tests and by tools that make data.
float to_float_from_float16(std::uint16_t bits);
float to_float_from_bfloat16(std::uint16_t bits);
std::uint16_t to_float16(
    float value);  ///< round to nearest even; overflow to infinity; NaN stays NaN
std::uint16_t to_bfloat16(float value);  ///< round to nearest even; NaN stays NaN

}  // namespace trefoil
