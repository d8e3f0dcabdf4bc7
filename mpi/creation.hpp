// SPDX-License-Identifier: BSD-3-Clause
// Making a Trefoil communicator for the ranks of an MPI communicator, so that all of them have it
// or none.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "trefoil/trefoil.h"

namespace trefoil::mpi {

/// What a rank has found out; or what all ranks have, alike.
struct Outcome {
    trefoil_status_t status = TREFOIL_SUCCESS;
    std::string text;
};

struct Creation {
    int rank = 0, ranks = 0;
    std::string torus;
    bool find_node = false;  ///< its last dimension is a node where it is the ranks of each host
    bool serial = false;     ///< for what must stay in the calling thread
    trefoil_progress_fn progress = nullptr;
    void* context = nullptr;  ///< of `progress`
};

/// As trefoil_allgather_fn, over the ranks of the MPI communicator.
using Exchange = std::function<int(const void* mine, void* all, std::size_t bytes)>;

struct Created {
    trefoil_comm_t comm = nullptr;
    Outcome outcome;  ///< alike on all ranks
};

/// Collective. Calls no MPI by itself, so it may run in any thread.
Created create(const Creation& creation, const Exchange& exchange);

}  // namespace trefoil::mpi
