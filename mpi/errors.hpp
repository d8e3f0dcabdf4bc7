// SPDX-License-Identifier: BSD-3-Clause
// Trefoil's failures as MPI errors.
#pragma once

#include <string>

#include "mpi/api.hpp"
#include "trefoil/trefoil.h"

namespace trefoil::mpi {

/// Has the error handler of `comm` called with an error code of the class that suits `status`,
/// whose text is `message`; returns the code, where the handler returns.
int raise(MPI_Comm comm, trefoil_status_t status, const std::string& message);
/// The same with a class of MPI's, for what MPI finds wrong in the arguments when data move.
int raise_class(MPI_Comm comm, int error_class);

}  // namespace trefoil::mpi
