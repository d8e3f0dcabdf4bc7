// SPDX-License-Identifier: BSD-3-Clause
// Whether this process is one that the layer was built for.
#pragma once

#include <string>

namespace trefoil::mpi {

/// What is wrong with the libraries of this process, and what to do; empty when nothing is. May be
/// called before MPI_Init.
std::string wrong_libraries();

}  // namespace trefoil::mpi
