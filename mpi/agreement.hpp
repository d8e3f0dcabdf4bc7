// SPDX-License-Identifier: BSD-3-Clause
// The ranks' comparison of their settings at the start.
#pragma once

#include <string>

namespace trefoil::mpi {

/// Collective over MPI_COMM_WORLD. Ends the job, with the reason on rank 0's standard error, unless
/// all ranks have the same `settings` and no `problem` with them.
void agree_or_abort(const std::string& settings, const std::string& problem);

}  // namespace trefoil::mpi
