// SPDX-License-Identifier: BSD-3-Clause
// How MPI's calls come in, and how they go on to the MPI below: by Open MPI's table of functions.
#pragma once

#include "mpi/component/caller.hpp"
#include "mpi/component/dispatch_jobs.hpp"
#include "mpi/component/shadows.hpp"
#include "mpi/dispatch.hpp"

#define TREFOIL_MPI_UNPACK(...) __VA_ARGS__

/// In a function of the table: whether MPI's FUNCTION calls it, and calls of that kind are looked
/// at.
#define TREFOIL_MPI_IS_OF_PROGRAM(name, ...)                                                  \
    [](const void* to) {                                                                      \
        static constinit trefoil::mpi::MpiFunction function(__VA_ARGS__);                     \
        return trefoil::mpi::layer.looks_at[trefoil::mpi::index(trefoil::mpi::Kind::name)] && \
               function.has(to);                                                              \
    }(__builtin_return_address(0))

/// Defines the three functions of Open MPI's component that run a `Call` as it is, nonblocking or
/// persistent. A macro, because it makes names. PARAMETERS and ARGUMENTS stand in parentheses.
#define TREFOIL_MPI_ENTRY(NAME, name, Call, PARAMETERS, ARGUMENTS)                                \
    extern "C" int trefoil_component_##name(TREFOIL_MPI_UNPACK PARAMETERS,                        \
                                            mca_coll_base_module_t* module) {                     \
        using namespace trefoil::mpi;                                                             \
        const auto below = [=] {                                                                  \
            return call_below(module, Kind::name, Way::blocking, TREFOIL_MPI_UNPACK ARGUMENTS);   \
        };                                                                                        \
        if (!TREFOIL_MPI_IS_OF_PROGRAM(name, "PMPI_" #NAME)) {                                    \
            return below();                                                                       \
        }                                                                                         \
        if (needs_no_shadow<Call>(state_of(module), comm, Way::blocking,                          \
                                  TREFOIL_MPI_UNPACK ARGUMENTS)) {                                \
            return returned(module, comm, below());                                               \
        }                                                                                         \
        return dispatch<Call>(shadow_of(module, comm), below, TREFOIL_MPI_UNPACK ARGUMENTS);      \
    }                                                                                             \
    extern "C" int trefoil_component_i##name(TREFOIL_MPI_UNPACK PARAMETERS, MPI_Request* request, \
                                             mca_coll_base_module_t* module) {                    \
        using namespace trefoil::mpi;                                                             \
        const auto below = [=](MPI_Request* place) {                                              \
            return call_below(module, Kind::name, Way::nonblocking, TREFOIL_MPI_UNPACK ARGUMENTS, \
                              place);                                                             \
        };                                                                                        \
        if (!TREFOIL_MPI_IS_OF_PROGRAM(name, "PMPI_I" #name) || is_own_call() ||                  \
            needs_no_shadow<Call>(state_of(module), comm, Way::nonblocking,                       \
                                  TREFOIL_MPI_UNPACK ARGUMENTS)) {                                \
            return below(request);                                                                \
        }                                                                                         \
        return dispatch_nonblocking<Call>(shadow_of(module, comm), request, below,                \
                                          TREFOIL_MPI_UNPACK ARGUMENTS);                          \
    }                                                                                             \
    extern "C" int trefoil_component_##name##_init(TREFOIL_MPI_UNPACK PARAMETERS, MPI_Info info,  \
                                                   MPI_Request* request,                          \
                                                   mca_coll_base_module_t* module) {              \
        using namespace trefoil::mpi;                                                             \
        const auto below = [&] {                                                                  \
            return call_below(module, Kind::name, Way::persistent, TREFOIL_MPI_UNPACK ARGUMENTS,  \
                              info, request);                                                     \
        };                                                                                        \
        if (!TREFOIL_MPI_IS_OF_PROGRAM(name, "PMPIX_" #NAME "_init", "PMPI_" #NAME "_init")) {    \
            return below();                                                                       \
        }                                                                                         \
        reap_if_parked();                                                                         \
        return dispatch_persistent(Call{{}, TREFOIL_MPI_UNPACK ARGUMENTS},                        \
                                   shadow_of(module, comm), request, below);                      \
    }

/// Open MPI 4.1 has no functions with counts of MPI_Count.
#define TREFOIL_MPI_LARGE_ENTRY(NAME, Call, PARAMETERS, ARGUMENTS)
