// SPDX-License-Identifier: BSD-3-Clause
// A thread's memory of the calls that were left to MPI.
#include "mpi/kept_calls.hpp"

namespace trefoil::mpi {

constinit thread_local KeptCalls KeptByArguments::here{};

}  // namespace trefoil::mpi
