// SPDX-License-Identifier: BSD-3-Clause
// Which ranks have the layer: each says so to the launcher before MPI begins.
#pragma once

namespace trefoil::mpi {

/// Before MPI_Init. Under a launcher that is not MPICH's own, nobody can be asked for.
void announce_presence();

}  // namespace trefoil::mpi
