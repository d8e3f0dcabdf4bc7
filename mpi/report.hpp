// SPDX-License-Identifier: BSD-3-Clause
// TREFOIL_MPI_REPORT: what Trefoil ran, what the MPI below ran, and why.
#pragma once

#include <chrono>
#include <string>

#include "mpi/collective_kind.hpp"
#include "mpi/form.hpp"
#include "trefoil/trefoil.h"

namespace trefoil::mpi {

/// Counts a call; from any thread. Which side has run it is told by the reason.
void count_call(Kind kind, Way way, const Verdict& verdict, std::chrono::nanoseconds time);

/// Remembers the torus and the transport of a communicator. `source`: who has chosen the torus;
/// empty: as Trefoil says.
void note_shadow(trefoil_comm_t comm, const std::string& source);

/// Collective over MPI_COMM_WORLD: rank 0 prints everything, to standard error.
void print_report();

}  // namespace trefoil::mpi
