// SPDX-License-Identifier: BSD-3-Clause
// How MPI's calls come in, and how they go on to the MPI below.
#pragma once

#include "mpi/collective_kind.hpp"

#define TREFOIL_MPI_UNPACK(...) __VA_ARGS__

#ifdef TREFOIL_MPI_COMPONENT

#include "mpi/component_slots.h"

/// Defines the function of Open MPI's component, which calls call_name with the arguments and with
/// what calls the function that the communicator would have without it. A macro, because it makes
/// names. PARAMETERS and ARGUMENTS stand in parentheses.
#define TREFOIL_MPI_ENTRY(NAME, name, PARAMETERS, ARGUMENTS)                                    \
    extern "C" int trefoil_component_##name(TREFOIL_MPI_UNPACK PARAMETERS,                      \
                                            mca_coll_base_module_2_3_0_t* module) {             \
        return call_##name(TREFOIL_MPI_UNPACK ARGUMENTS, [&] {                                  \
            using Function = int(TREFOIL_MPI_UNPACK PARAMETERS, mca_coll_base_module_2_3_0_t*); \
            const trefoil_component_slot& below =                                               \
                trefoil_component_slots(module)[trefoil::mpi::index(trefoil::mpi::Kind::name)]; \
            return reinterpret_cast<Function*>(below.function)(TREFOIL_MPI_UNPACK ARGUMENTS,    \
                                                               below.module);                   \
        });                                                                                     \
    }

#else

/// The same of MPI_NAME, where the layer is preloaded; it goes on to PMPI_NAME.
#define TREFOIL_MPI_ENTRY(NAME, name, PARAMETERS, ARGUMENTS)                                     \
    extern "C" [[gnu::visibility("default")]] int MPI_##NAME PARAMETERS {                        \
        return call_##name(TREFOIL_MPI_UNPACK ARGUMENTS, [&] { return PMPI_##NAME ARGUMENTS; }); \
    }

#endif
