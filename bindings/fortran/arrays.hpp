// SPDX-License-Identifier: BSD-3-Clause
// What Fortran hands over: arrays as the descriptors of ISO_Fortran_binding.h, and what they mean.
#pragma once

#include <ISO_Fortran_binding.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "trefoil/trefoil.h"

namespace trefoil::fortran {

/// An argument that is wrong before Trefoil sees it.
struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// TREFOIL_IN_PLACE of the module, known by its address.
extern "C" [[gnu::visibility("default")]] int trefoil_fortran_in_place;

/// A buffer: all elements of a contiguous array of any type and rank.
struct Array {
    void* data = nullptr;
    std::size_t count = 0;          ///< elements
    std::size_t element_bytes = 0;  ///< of one element
    int base_type = 0;              ///< integer, real, ...: as ISO_Fortran_binding.h has them
    bool in_place = false;

    /// As the C interface wants it, which is the other way round in a scatter.
    const void* source() const { return in_place ? TREFOIL_IN_PLACE : data; }
    void* target() const { return in_place ? TREFOIL_IN_PLACE : data; }
};
/// Throws Refused for an array that is not contiguous or whose size is not known.
Array array_of(const CFI_cdesc_t* descriptor, const char* name);

/// The type of the elements for a call that only moves them: what has none in Trefoil moves as
/// bytes, `scale` of them for each element.
struct Moved {
    trefoil_datatype_t type = TREFOIL_UINT8;
    std::size_t scale = 1;
};
Moved moved_type(const Array& array, const int* asked);
/// For a reduction. `asked`: the caller's own word on the type, or null.
trefoil_datatype_t reduced_type(const Array& array, int op, const int* asked);

/// Throws Refused unless the elements of both are of one type; what is in place has none.
void require_alike(const Array& send, const Array& recv);

/// Counts or displacements, integers of any kind. An absent list is empty.
std::vector<std::size_t> list_of(const CFI_cdesc_t* descriptor, const char* name,
                                 std::size_t length);

/// A character argument without the blanks at its end; "" if it is absent.
std::string text_of(const CFI_cdesc_t* descriptor);

}  // namespace trefoil::fortran
