// SPDX-License-Identifier: BSD-3-Clause
// The elements of drawn calls: values that follow from a stream of numbers, and what a reduction
// of them must give where the order does not matter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trefoil/trefoil.h"

namespace trefoil::calls {

/// A hash: neighbouring numbers give unlike ones.
std::uint64_t mix(std::uint64_t x);

struct TypeName {
    trefoil_datatype_t type;
    const char* name;
};
inline constexpr std::array types{
    TypeName{TREFOIL_INT8, "int8"},
    TypeName{TREFOIL_INT16, "int16"},
    TypeName{TREFOIL_INT32, "int32"},
    TypeName{TREFOIL_INT64, "int64"},
    TypeName{TREFOIL_UINT8, "uint8"},
    TypeName{TREFOIL_UINT16, "uint16"},
    TypeName{TREFOIL_UINT32, "uint32"},
    TypeName{TREFOIL_UINT64, "uint64"},
    TypeName{TREFOIL_FLOAT16, "float16"},
    TypeName{TREFOIL_BFLOAT16, "bfloat16"},
    TypeName{TREFOIL_FLOAT, "float"},
    TypeName{TREFOIL_DOUBLE, "double"},
    TypeName{TREFOIL_COMPLEX_FLOAT, "complex float"},
    TypeName{TREFOIL_COMPLEX_DOUBLE, "complex double"},
    TypeName{TREFOIL_FLOAT_INT, "float-int"},
    TypeName{TREFOIL_DOUBLE_INT, "double-int"},
    TypeName{TREFOIL_LONG_INT, "long-int"},
    TypeName{TREFOIL_2INT, "2int"},
    TypeName{TREFOIL_SHORT_INT, "short-int"},
};

/// One of Trefoil's, or one of ours, which trefoil_op_create makes.
enum class Operation : std::uint8_t {
    sum,
    prod,
    min,
    max,
    band,
    bor,
    bxor,
    land,
    lor,
    lxor,
    minloc,
    maxloc,
    avg,
    add,      ///< of 64-bit integers
    compose,  ///< of two 64-bit integers, a function x -> a x + b: does not commute
    triples,  ///< three 32-bit sums
};
constexpr std::size_t operations = 16;
constexpr Operation first_created = Operation::add;

const char* name_of(Operation operation);
inline bool is_created(Operation operation) {
    return operation >= first_created;
}
/// Whether Trefoil has this operation for this type.
bool suits(Operation operation, trefoil_datatype_t type);

struct Created {
    trefoil_reduce_fn function;
    std::size_t bytes;
    bool commutes;
};
Created created(Operation operation);

/// What a call's elements are. `type` does not matter to created operations.
struct Elements {
    trefoil_datatype_t type = TREFOIL_INT32;
    Operation operation = Operation::sum;  ///< also decides about the values

    bool are_created() const { return is_created(operation); }
    std::size_t bytes() const;
};

/// Elements first ... first + count - 1 of a stream. Floating point has many magnitudes, so that
/// sums depend on their order.
void fill(const Elements& elements, std::uint64_t stream, std::size_t first, std::size_t count,
          std::byte* to);

/// Whether a reduction has one correct result whatever the order, which fold() knows.
bool has_one_result(const Elements& elements);

/// The reduction of the streams stream(0) ... stream(ranks - 1), in this order; `all`: how many
/// ranks an average is of.
using StreamOf = std::uint64_t (*)(std::uint64_t salt, std::uint64_t source);
void fold(const Elements& elements, StreamOf stream, std::uint64_t salt, int ranks, int all,
          std::size_t first, std::size_t count, std::byte* to);

}  // namespace trefoil::calls
