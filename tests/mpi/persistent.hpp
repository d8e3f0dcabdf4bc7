// SPDX-License-Identifier: BSD-3-Clause
// The names of persistent collectives: before MPI 4 they have another one, except in Open MPI 5.
#pragma once

#include "mpi/api.hpp"
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define PERSISTENT(Name) MPIX_##Name##_init
#else
#define PERSISTENT(Name) MPI_##Name##_init
#endif
