// SPDX-License-Identifier: BSD-3-Clause
// Structs of the interface that grow: the first field, `size`, says which version the caller has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "comm/api/c_guard.hpp"

namespace trefoil::c_api {

/// No struct of the interface will ever be larger; a larger size is a field that nobody has set.
inline constexpr std::size_t largest_struct = 4096;

/// What a caller says of its struct, refused when it cannot be. `name`: "config".
template <typename Struct>
std::size_t checked_size(const Struct* given, const char* name) {
    if (given == nullptr) {
        refuse(std::string(name) + " is NULL");
    }
    if (given->size < sizeof(std::size_t) || given->size > largest_struct ||
        given->size % alignof(Struct) != 0) {
        refuse(std::string(name) + "->size is " + std::to_string(given->size) +
               "; set it to the sizeof of the struct (" + std::to_string(sizeof(Struct)) +
               " in this version of trefoil.h)");
    }
    return given->size;
}

/// The caller's struct of any version. Fields that it does not have stay as in `result`. What it
/// has beyond this version's fields must be zero: it asks for something that this library cannot
/// do.
template <typename Struct>
Struct read_struct(const Struct* given, const char* name, Struct result) {
    const std::size_t size = checked_size(given, name);
    const auto* const bytes = reinterpret_cast<const std::byte*>(given);
    if (std::any_of(bytes + std::min(size, sizeof result), bytes + size,
                    [](std::byte b) { return b != std::byte{0}; })) {
        refuse(std::string(name) + "->size is " + std::to_string(size) +
               ", and fields beyond the " + std::to_string(sizeof result) + " bytes that Trefoil " +
               trefoil_version_string() +
               " knows are set: the program was built with a newer trefoil.h; let it load a newer "
               "libtrefoil, or leave these fields zero");
    }
    std::memcpy(&result, given, std::min(size, sizeof result));
    result.size = sizeof result;
    return result;
}

/// Fills in as many fields as the caller's struct has; what it has more becomes zero.
template <typename Struct>
void write_struct(Struct* place, const char* name, const Struct& values) {
    const std::size_t size = checked_size(place, name), known = std::min(size, sizeof values);
    auto* const bytes = reinterpret_cast<std::byte*>(place);
    std::memcpy(bytes + sizeof size, reinterpret_cast<const std::byte*>(&values) + sizeof size,
                known - sizeof size);
    std::fill(bytes + known, bytes + size, std::byte{0});
}

/// Fields are only added at the end, and never into padding, which older programs do not set.
template <typename Struct, typename Field>
constexpr bool ends_with(std::size_t offset, Field Struct::*) {
    return offset + sizeof(Field) == sizeof(Struct);
}
static_assert(ends_with(offsetof(trefoil_config_t, flags), &trefoil_config_t::flags));
static_assert(ends_with(offsetof(trefoil_resources_t, copied_bytes),
                        &trefoil_resources_t::copied_bytes));
static_assert(ends_with(offsetof(trefoil_cause_t, reserved), &trefoil_cause_t::reserved));
static_assert(ends_with(offsetof(trefoil_port_t, nic), &trefoil_port_t::nic));

}  // namespace trefoil::c_api
