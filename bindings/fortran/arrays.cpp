// SPDX-License-Identifier: BSD-3-Clause
// Reads Fortran's array descriptors.
#include "bindings/fortran/arrays.hpp"

#include <cstdint>

namespace trefoil::fortran {

int trefoil_fortran_in_place = 0;

namespace {

std::string words(const char* name) {
    return std::string("the array '") + name + "' ";
}

/// Nothing for what Trefoil does not reduce: real(16), derived types, characters.
bool find_type(const Array& array, trefoil_datatype_t& type) {
    const std::size_t bytes = array.element_bytes;
    switch (array.base_type) {
        case CFI_type_Integer:
        case CFI_type_Logical:
            if (bytes > 8) {
                return false;
            }
            type = bytes == 1   ? TREFOIL_INT8
                   : bytes == 2 ? TREFOIL_INT16
                   : bytes == 4 ? TREFOIL_INT32
                                : TREFOIL_INT64;
            return true;
        case CFI_type_Real:
            type = bytes == 4 ? TREFOIL_FLOAT : TREFOIL_DOUBLE;
            return bytes == 4 || bytes == 8;
        case CFI_type_Complex:
            type = bytes == 8 ? TREFOIL_COMPLEX_FLOAT : TREFOIL_COMPLEX_DOUBLE;
            return bytes == 8 || bytes == 16;
        default:
            return false;
    }
}

trefoil_datatype_t asked_type(const Array& array, int asked) {
    const auto type = static_cast<trefoil_datatype_t>(asked);
    const std::size_t size = trefoil_datatype_size(type);
    if (size == 0) {
        throw Refused("datatype " + std::to_string(asked) + " is not one of Trefoil");
    }
    if (size != array.element_bytes) {
        throw Refused("the datatype has elements of " + std::to_string(size) +
                      " bytes, and the array of " + std::to_string(array.element_bytes));
    }
    return type;
}

std::size_t entry(const CFI_cdesc_t& list, CFI_index_t i, const char* name) {
    const char* const at =
        static_cast<const char*>(list.base_addr) + i * (list.rank == 0 ? 0 : list.dim[0].sm);
    const std::int64_t value = list.elem_len == 4 ? *reinterpret_cast<const std::int32_t*>(at)
                                                  : *reinterpret_cast<const std::int64_t*>(at);
    if (value < 0) {
        throw Refused("'" + std::string(name) + "' has a negative entry, " + std::to_string(value));
    }
    return static_cast<std::size_t>(value);
}

}  // namespace

Array array_of(const CFI_cdesc_t* descriptor, const char* name) {
    Array array{descriptor->base_addr, 1, descriptor->elem_len, descriptor->type & CFI_type_mask,
                descriptor->base_addr == &trefoil_fortran_in_place};
    for (CFI_rank_t d = 0; d < descriptor->rank; ++d) {
        const CFI_index_t extent = descriptor->dim[d].extent;
        if (extent < 0) {
            throw Refused(words(name) + "is of assumed size: give a section with an end, a(1:n)");
        }
        array.count *= static_cast<std::size_t>(extent);
    }
    if (!array.in_place && descriptor->rank > 0 && array.count > 1 &&
        CFI_is_contiguous(descriptor) == 0) {
        throw Refused(words(name) +
                      "is not contiguous, and the call goes on after it returns: "
                      "copy the section first");
    }
    return array;
}

Moved moved_type(const Array& array, const int* asked) {
    Moved moved;
    if (asked != nullptr) {
        moved.type = asked_type(array, *asked);
    } else if (!find_type(array, moved.type)) {
        moved = {TREFOIL_UINT8, array.element_bytes};
    }
    return moved;
}

trefoil_datatype_t reduced_type(const Array& array, int op, const int* asked) {
    if (op >= TREFOIL_OP_CREATED) {
        return TREFOIL_ELEMENT;
    }
    if (asked != nullptr) {
        return asked_type(array, *asked);
    }
    trefoil_datatype_t type{};
    if (!find_type(array, type)) {
        throw Refused(
            "elements of this type need an operation of trefoil_op_create, or, for pairs "
            "of a value and an index, `datatype`");
    }
    const bool logic = op == TREFOIL_LAND || op == TREFOIL_LOR || op == TREFOIL_LXOR;
    if (array.base_type == CFI_type_Logical && !logic) {
        throw Refused("logical elements take TREFOIL_LAND, TREFOIL_LOR and TREFOIL_LXOR");
    }
    return type;
}

void require_alike(const Array& send, const Array& recv) {
    if (!send.in_place && !recv.in_place &&
        (send.element_bytes != recv.element_bytes || send.base_type != recv.base_type)) {
        throw Refused("the elements of both arrays must be of one type and kind");
    }
}

std::vector<std::size_t> list_of(const CFI_cdesc_t* descriptor, const char* name,
                                 std::size_t length) {
    std::vector<std::size_t> list;
    if (descriptor == nullptr) {
        return list;
    }
    if ((descriptor->type & CFI_type_mask) != CFI_type_Integer ||
        (descriptor->elem_len != 4 && descriptor->elem_len != 8)) {
        throw Refused("'" + std::string(name) + "' must be integers of 4 or 8 bytes");
    }
    const std::size_t given =
        descriptor->rank == 0 ? 1 : static_cast<std::size_t>(descriptor->dim[0].extent);
    if (descriptor->rank > 1 || given != length) {
        throw Refused("'" + std::string(name) + "' must have " + std::to_string(length) +
                      " entries in one dimension, one for each block");
    }
    for (std::size_t i = 0; i < length; ++i) {
        list.push_back(entry(*descriptor, static_cast<CFI_index_t>(i), name));
    }
    return list;
}

std::string text_of(const CFI_cdesc_t* descriptor) {
    if (descriptor == nullptr) {
        return {};
    }
    const std::string text(static_cast<const char*>(descriptor->base_addr), descriptor->elem_len);
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace trefoil::fortran
