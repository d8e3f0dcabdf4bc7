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
    bool of_world = false;   ///< of MPI_COMM_WORLD itself
    /// Alike on all ranks: the ranks are those of MPI_COMM_WORLD in their order. If all have what
    /// it keeps for that, it is duplicated, which takes a fraction of the time.
    bool may_duplicate = false;
    trefoil_comm_t original = nullptr;
    trefoil_progress_fn progress = nullptr;
    void* context = nullptr;  ///< of `progress`
};

/// As trefoil_allgather_fn, over the ranks of the MPI communicator.
using Exchange = std::function<int(const void* mine, void* all, std::size_t bytes)>;

struct Created {
    trefoil_comm_t comm = nullptr;
    /// Of MPI_COMM_WORLD: a duplicate that nobody calls, so that it can be duplicated while calls
    /// on `comm` are under way and may begin.
    trefoil_comm_t original = nullptr;
    Outcome outcome;  ///< alike on all ranks
};

/// Collective. Calls no MPI by itself, so it may run in any thread.
Created create(const Creation& creation, const Exchange& exchange);

}  // namespace trefoil::mpi
