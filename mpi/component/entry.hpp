// SPDX-License-Identifier: BSD-3-Clause
// How MPI's calls come in, and how they go on to the MPI below: by Open MPI's table of functions.
#pragma once

#include "mpi/component/dispatch_jobs.hpp"
#include "mpi/dispatch.hpp"

#define TREFOIL_MPI_UNPACK(...) __VA_ARGS__

/// Defines the three functions of Open MPI's component that run a `Call` as it is, nonblocking or
/// persistent. A macro, because it makes names. PARAMETERS and ARGUMENTS stand in parentheses.
#define TREFOIL_MPI_ENTRY(NAME, name, Call, PARAMETERS, ARGUMENTS)                                \
    extern "C" int trefoil_component_##name(TREFOIL_MPI_UNPACK PARAMETERS,                        \
                                            mca_coll_base_module_t* module) {                     \
        return trefoil::mpi::dispatch(Call{{}, TREFOIL_MPI_UNPACK ARGUMENTS}, [&] {               \
            return trefoil::mpi::call_below(module, trefoil::mpi::Kind::name,                     \
                                            trefoil::mpi::Way::blocking,                          \
                                            TREFOIL_MPI_UNPACK ARGUMENTS);                        \
        });                                                                                       \
    }                                                                                             \
    extern "C" int trefoil_component_i##name(TREFOIL_MPI_UNPACK PARAMETERS, MPI_Request* request, \
                                             mca_coll_base_module_t* module) {                    \
        return trefoil::mpi::dispatch_nonblocking(                                                \
            Call{{}, TREFOIL_MPI_UNPACK ARGUMENTS}, request, [=](MPI_Request* below) {            \
                return trefoil::mpi::call_below(module, trefoil::mpi::Kind::name,                 \
                                                trefoil::mpi::Way::nonblocking,                   \
                                                TREFOIL_MPI_UNPACK ARGUMENTS, below);             \
            });                                                                                   \
    }                                                                                             \
    extern "C" int trefoil_component_##name##_init(TREFOIL_MPI_UNPACK PARAMETERS, MPI_Info info,  \
                                                   MPI_Request* request,                          \
                                                   mca_coll_base_module_t* module) {              \
        return trefoil::mpi::dispatch_persistent(                                                 \
            Call{{}, TREFOIL_MPI_UNPACK ARGUMENTS}, request, [&] {                                \
                return trefoil::mpi::call_below(module, trefoil::mpi::Kind::name,                 \
                                                trefoil::mpi::Way::persistent,                    \
                                                TREFOIL_MPI_UNPACK ARGUMENTS, info, request);     \
            });                                                                                   \
    }

/// Open MPI 4.1 has no functions with counts of MPI_Count.
#define TREFOIL_MPI_LARGE_ENTRY(NAME, Call, PARAMETERS, ARGUMENTS)
