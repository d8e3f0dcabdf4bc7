// SPDX-License-Identifier: BSD-3-Clause
// The communicators of a random program. All ranks know who is in each, whether they are or not.
#pragma once

#include <string>

#include "calls.hpp"

namespace trefoil::mpi::test {

struct Communicator {
    Where where;  ///< its handle is MPI_COMM_NULL on who is not in it
    /// Of MPI_COMM_WORLD, in the order of the ranks; both groups of one between groups.
    std::vector<int> members, others;
    std::vector<int> sizes;  ///< of a Cartesian one
    bool is_here() const { return where.comm != MPI_COMM_NULL; }
};

/// Makes one or more out of one of `all`, and says how.
std::string make_communicators(Draw& draw, std::vector<Communicator>& all, int world_rank);

/// Of a handle that is complete.
Communicator described(MPI_Comm comm, std::vector<int> members);

}  // namespace trefoil::mpi::test
