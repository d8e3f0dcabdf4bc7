// SPDX-License-Identifier: BSD-3-Clause
// Checks of a collective's arguments: nothing has moved when one of them throws.
#pragma once

#include <cstdint>

#include "comm/api/c_guard.hpp"

namespace trefoil::c_api {

/// Sets type and operation. Throws when there is no such type, operation, or pair of them.
void set_type(Request& request, trefoil_datatype_t type);
void set_operation(Request& request, trefoil_datatype_t type, trefoil_op_t op);

/// Throws Error(unsupported) where an average cannot be made: "scan".
void require_no_average(const Request& request, const char* where);
/// Throws when `root` is no rank of the communicator.
void set_root(Request& request, trefoil_comm_t comm, int root);

/// Bytes of `count` elements; throws when they exceed the address space.
std::size_t bytes_of(const Request& request, std::size_t count);

/// Bytes that blocks of the request's counts at its displacements span, by rank or by neighbour.
/// Throws when that exceeds the address space. `which` names them in messages: "block", "send
/// block".
std::size_t span_of(const Request& request, int blocks, const char* which = "block");
/// Throws when two of these blocks have elements in common.
void require_separate_blocks(const Request& request, int blocks);

/// Lists of so many numbers that may be null where nothing is allowed to be.
std::span<const std::size_t> list(const size_t* numbers, int length, const char* what);

/// A vector of `bytes` bytes; null is allowed for 0.
struct Vector {
    const void* address = nullptr;
    std::size_t bytes = 0;
    const char* name = "";
};
void require_vector(const Vector& vector);
/// Throws when the two overlap; `advice` tells what to give instead.
void require_disjoint(const Vector& a, const Vector& b,
                      const char* advice = "TREFOIL_IN_PLACE, or disjoint ones");

inline bool in_place(const void* vector) {
    return vector == TREFOIL_IN_PLACE;
}
inline const void* shifted(const void* vector, std::size_t bytes) {
    return static_cast<const std::byte*>(vector) + bytes;
}

/// Empty where they are NULL: blocks lie side by side.
std::span<const std::size_t> displacements_of(const size_t* numbers, int ranks);
/// This rank's own count, and what the list says of it.
void require_equal_counts(std::size_t own, std::size_t listed, const char* what);

}  // namespace trefoil::c_api
