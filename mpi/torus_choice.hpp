// SPDX-License-Identifier: BSD-3-Clause
// Which torus the ranks of an MPI communicator are.
#pragma once

#include <string>
#include <vector>

#include "mpi/api.hpp"

namespace trefoil::mpi {

/// Of a Cartesian communicator with nothing but periodic dimensions; else empty. Both libraries
/// number ranks row-major.
std::vector<int> periodic_sizes(MPI_Comm comm);

struct TorusChoice {
    std::string torus = {};    ///< as trefoil_config_t wants it; empty: by the environment
    std::string source = {};   ///< for the report; empty: as Trefoil says
    bool is_of_world = false;  ///< it describes the ranks of MPI_COMM_WORLD in their order
    bool cartesian = false;    ///< all its dimensions are the user's, who knows nothing of nodes
};

/// Alike on all ranks. A Cartesian communicator that is periodic in every dimension is a torus
/// already; the job's own torus (TREFOIL_TORUS, TREFOIL_HOSTFILE) describes communicators with the
/// ranks of MPI_COMM_WORLD in their order; others get a balanced one.
TorusChoice torus_of(MPI_Comm comm);

}  // namespace trefoil::mpi
