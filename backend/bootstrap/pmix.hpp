// SPDX-License-Identifier: BSD-3-Clause
// PMIx: how Open MPI's mpirun, prterun and Slurm's srun --mpi=pmix let processes meet.
#pragma once

#include <memory>

#include "backend/bootstrap/launcher_rounds.hpp"

namespace trefoil {

/// Connects to the PMIx server that the environment names. The library is loaded here and not
/// linked: only who is started by such a launcher needs it. Throws Error(not_found) when the
/// library is not there, Error(system_error) when no server answers.
std::unique_ptr<LauncherLink> make_pmix_link(LauncherLink::Clock::time_point until);

}  // namespace trefoil
