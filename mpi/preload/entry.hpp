// SPDX-License-Identifier: BSD-3-Clause
// How MPI's calls come in, and how they go on to the MPI below: by the names of its functions.
#pragma once

#include "mpi/dispatch.hpp"
#include "mpi/preload/shadows.hpp"

namespace trefoil::mpi {

template <typename Call, typename Below>
int dispatch(Call call, Below below) {
    if (!layer.looks_at[index(Call::kind)]) {
        return below();
    }
    ShadowCommunicator* const shadow = shadow_of(call.comm);
    return dispatch(std::move(call), shadow, std::move(below));
}

}  // namespace trefoil::mpi

#define TREFOIL_MPI_UNPACK(...) __VA_ARGS__

/// Defines MPI_NAME, which runs a `Call`; it goes on to PMPI_NAME.
#define TREFOIL_MPI_ENTRY(NAME, name, Call, PARAMETERS, ARGUMENTS)            \
    extern "C" [[gnu::visibility("default")]] int MPI_##NAME PARAMETERS {     \
        return trefoil::mpi::dispatch(Call{{}, TREFOIL_MPI_UNPACK ARGUMENTS}, \
                                      [&] { return PMPI_##NAME ARGUMENTS; }); \
    }

/// The same of MPI_NAME_c, whose counts are MPI_Count, where the MPI has such functions.
#ifdef MPICH
#define TREFOIL_MPI_LARGE_ENTRY(NAME, Call, PARAMETERS, ARGUMENTS)                \
    extern "C" [[gnu::visibility("default")]] int MPI_##NAME##_c PARAMETERS {     \
        return trefoil::mpi::dispatch(Call{{}, TREFOIL_MPI_UNPACK ARGUMENTS},     \
                                      [&] { return PMPI_##NAME##_c ARGUMENTS; }); \
    }
#else
#define TREFOIL_MPI_LARGE_ENTRY(NAME, Call, PARAMETERS, ARGUMENTS)
#endif
