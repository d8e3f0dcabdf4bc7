// SPDX-License-Identifier: BSD-3-Clause
// MPI's C interface, of whichever implementation this layer is compiled against, or of MPI's
// standard ABI, which several implementations have.
#pragma once

// The C++ bindings that MPI dropped long ago would come with mpi.h otherwise.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace trefoil::mpi {

/// Which MPI this is: as `MPI_Get_library_version` begins (any, with the standard ABI), and as the
/// layer's own file is named.
#if defined(OPEN_MPI)
inline constexpr const char* version_word = "Open MPI";
inline constexpr const char* layer_name = "openmpi";
constexpr bool is_mpich() {
    return false;
}
#elif defined(MPICH)
inline constexpr const char* version_word = "MPICH";
inline constexpr const char* layer_name = "mpich";
constexpr bool is_mpich() {
    return true;
}
#elif defined(MPI_ABI_VERSION) && MPI_VERSION >= 5  // MPICH 4.3's is a draft of it
inline constexpr const char* version_word = "MPI's standard ABI";
inline constexpr const char* layer_name = "abi";
/// The MPI below decides what is an error, so whose it is counts here, too.
inline bool is_mpich() {
    static const bool is = [] {
        char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
        int length = 0;
        PMPI_Get_library_version(text, &length);
        return std::string_view(text).starts_with("MPICH");
    }();
    return is;
}
#else
#error "the MPI layer is written for Open MPI, MPICH and MPI's standard ABI; see docs/mpi.md"
#endif

#if defined(MPI_ABI_VERSION)
inline constexpr bool is_standard_abi = true;
#else
inline constexpr bool is_standard_abi = false;
#endif

/// Whether this is Open MPI's component, which that MPI calls itself, or the preloaded layer.
#if defined(TREFOIL_MPI_COMPONENT)
inline constexpr bool is_component = true;
#else
inline constexpr bool is_component = false;
#endif

/// A handle as a number, whether the implementation's handles are pointers or integers.
template <typename Handle>
std::uint64_t number_of(Handle handle) {
    if constexpr (std::is_pointer_v<Handle>) {
        return reinterpret_cast<std::uintptr_t>(handle);
    } else {
        return static_cast<std::uint32_t>(handle);
    }
}

}  // namespace trefoil::mpi
