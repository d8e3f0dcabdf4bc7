// SPDX-License-Identifier: BSD-3-Clause
// The ranks' comparison of their settings at the start.
#pragma once

#include <string>
#include <vector>

namespace trefoil::mpi {

/// Collective over MPI_COMM_WORLD. Whether all ranks have the same `settings` and no `problem` with
/// them; else a warning of rank 0's says why MPI runs the job alone.
bool agree(const std::string& settings, const std::string& problem);

/// "rank 1", "ranks 0, 2".
std::string rank_list(const std::vector<int>& ranks);

}  // namespace trefoil::mpi
