// SPDX-License-Identifier: BSD-3-Clause
// How MPI's calls come in, and how they go on to the MPI below: by the names of its functions. Not
// by those with PMPI_, so that a tool that was preloaded after the layer sees what is left to MPI.
#pragma once

#include "mpi/dispatch.hpp"
#include "mpi/next.hpp"
#include "mpi/preload/shadows.hpp"

namespace trefoil::mpi {

template <typename Call, typename Below, typename... Arguments>
int take(MPI_Comm comm, Below below, Arguments... arguments) {
    if (!layer.looks_at[index(Call::kind)]) {
        return below();
    }
    return dispatch<Call>(shadow_of(comm), std::move(below), arguments...);
}

}  // namespace trefoil::mpi

#define TREFOIL_MPI_UNPACK(...) __VA_ARGS__

/// Defines the function `FUNCTION` of MPI's, which runs a `Call`; it goes on to the next of that
/// name.
#define TREFOIL_MPI_TAKEN(FUNCTION, Call, PARAMETERS, ARGUMENTS)                      \
    extern "C" [[gnu::visibility("default")]] int FUNCTION PARAMETERS {               \
        static auto* const below = trefoil::mpi::next<decltype(FUNCTION)>(#FUNCTION); \
        return trefoil::mpi::take<Call>(                                              \
            comm, [=] { return below ARGUMENTS; }, TREFOIL_MPI_UNPACK ARGUMENTS);     \
    }

#define TREFOIL_MPI_ENTRY(NAME, name, Call, PARAMETERS, ARGUMENTS) \
    TREFOIL_MPI_TAKEN(MPI_##NAME, Call, PARAMETERS, ARGUMENTS)

/// The same of MPI_NAME_c, whose counts are MPI_Count, where the MPI has such functions.
#if MPI_VERSION >= 4
#define TREFOIL_MPI_LARGE_ENTRY(NAME, Call, PARAMETERS, ARGUMENTS) \
    TREFOIL_MPI_TAKEN(MPI_##NAME##_c, Call, PARAMETERS, ARGUMENTS)
#else
#define TREFOIL_MPI_LARGE_ENTRY(NAME, Call, PARAMETERS, ARGUMENTS)
#endif
