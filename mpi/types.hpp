// SPDX-License-Identifier: BSD-3-Clause
// MPI's datatypes as Trefoil sees them: element types to reduce, and layouts to move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "mpi/api.hpp"
#include "trefoil/trefoil.h"

namespace trefoil::mpi {

/// The groups of MPI's table of operations, as bits.
enum TypeClass : std::uint8_t {
    no_class = 0,  ///< only moved, or reduced by the user's operations
    integer_class = 1,
    floating_class = 2,
    complex_class = 4,
    logical_class = 8,
    byte_class = 16,
    address_class = 32,
    pair_class = 64,
    fortran_integer_class = 128  ///< no logic: MPI does not define it, and Open MPI reports it
};

/// A predefined datatype.
struct TypeEntry {
    std::uint64_t handle = 0;
    std::uint32_t size = 0;    ///< bytes of data; 0: an empty place in the table
    std::uint32_t extent = 0;  ///< from one element to the next
    TypeClass in_class = no_class;
    trefoil_datatype_t code{};  ///< where in_class says that there is one
};

/// Fills the table; once, before any other function here.
void learn_types();
/// Null for a derived type.
const TypeEntry* find_type(MPI_Datatype type);
/// A predefined type that the standard ABI has and the MPI below lacks.
bool is_refused(MPI_Datatype type);

/// How elements of a datatype lie in memory.
struct Layout {
    std::size_t size = 0;  ///< of the data of one element: equal wherever the signature is
    std::ptrdiff_t extent = 0;
    bool dense = false;  ///< the data are the bytes 0 ... size - 1, in order
    /// `count` elements are one piece of memory, and the next one would follow at once.
    bool contiguous() const { return dense && extent == static_cast<std::ptrdiff_t>(size); }
};
/// Nothing for what is no datatype: the MPI below is to say so.
std::optional<Layout> layout_of(MPI_Datatype type);

/// Frees what was made to remember layouts.
void forget_layouts();

}  // namespace trefoil::mpi
