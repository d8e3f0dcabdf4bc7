// SPDX-License-Identifier: BSD-3-Clause
// How MPI's calls come in, and how they go on to the MPI below.
#pragma once

/// Defines MPI_NAME, which calls call_name with the arguments and with what calls PMPI_NAME. A
/// macro, because it makes names. PARAMETERS and ARGUMENTS stand in parentheses.
#define TREFOIL_MPI_ENTRY(NAME, name, PARAMETERS, ARGUMENTS)                                     \
    extern "C" [[gnu::visibility("default")]] int MPI_##NAME PARAMETERS {                        \
        return call_##name(TREFOIL_MPI_UNPACK ARGUMENTS, [&] { return PMPI_##NAME ARGUMENTS; }); \
    }
#define TREFOIL_MPI_UNPACK(...) __VA_ARGS__
