// SPDX-License-Identifier: BSD-3-Clause
// MPI's C interface, of whichever implementation this layer is compiled against.
#pragma once

// The C++ bindings that MPI dropped long ago would come with mpi.h otherwise.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdint>
#include <type_traits>

namespace trefoil::mpi {

/// Which MPI this is: as `MPI_Get_library_version` begins, and as the layer's own file is named.
#if defined(OPEN_MPI)
inline constexpr const char* version_word = "Open MPI";
inline constexpr const char* layer_name = "openmpi";
inline constexpr bool is_mpich = false;
#elif defined(MPICH)
inline constexpr const char* version_word = "MPICH";
inline constexpr const char* layer_name = "mpich";
inline constexpr bool is_mpich = true;
#else
#error "the MPI layer is written for Open MPI and MPICH; see docs/mpi.md"
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
