// SPDX-License-Identifier: BSD-3-Clause
// MPI's functions that begin and end something, where the layer is preloaded.
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "mpi/layer.hpp"
#include "mpi/next.hpp"
#include "mpi/preload/library_check.hpp"
#include "mpi/preload/presence.hpp"
#include "mpi/preload/shadows.hpp"
#include "mpi/settings.hpp"
#include "mpi/words.hpp"

using namespace trefoil::mpi;

namespace {

/// Of launchers, before MPI can say who is who.
bool is_first_rank() {
    for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
        const std::string rank = variable(name);
        if (!rank.empty()) {
            return rank == "0";
        }
    }
    return true;
}

/// With the wrong libraries not even MPI_Abort would be safe to call.
void require_right_libraries() {
    const std::string problem = wrong_libraries();
    if (problem.empty()) {
        return;
    }
    if (is_first_rank()) {
        say(TREFOIL_LOG_ERROR, problem);
    } else {
        sleep(1);  // the launcher ends all ranks when one ends: let the first speak
    }
    _exit(EXIT_FAILURE);
}

/// Begins MPI by `init`, and then the layer.
template <typename Init>
int begin(Init&& init) {
    if (HandedOn::here()) {  // a tool, in what it does for the program's call
        return init();
    }
    require_right_libraries();
    announce_presence();
    const int code = [&] {
        const HandedOn handed_on;
        return init();
    }();
    if (code == MPI_SUCCESS) {
        start();
    }
    return code;
}

/// A communicator goes, by `free`.
template <typename Free>
int give_up(MPI_Comm* comm, Free&& free) {
    if (layer.alone == MPI_COMM_NULL || comm == nullptr || Dying::is(*comm)) {
        return free(comm);  // the last: a tool, in what it does for the program's call
    }
    const Dying here(*comm);
    return free(comm);
}

}  // namespace

#define TREFOIL_MPI_SHOWN extern "C" [[gnu::visibility("default")]] int
#define TREFOIL_MPI_NEXT(FUNCTION) next<decltype(FUNCTION)>(#FUNCTION)

#ifndef OPEN_MPI
// MPICH's module mpi_f08 calls these by their PMPI_ names.
TREFOIL_MPI_SHOWN PMPI_Init(int* argc, char*** argv) {
    return begin([&] { return TREFOIL_MPI_NEXT(PMPI_Init)(argc, argv); });
}
TREFOIL_MPI_SHOWN PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    return begin(
        [&] { return TREFOIL_MPI_NEXT(PMPI_Init_thread)(argc, argv, required, provided); });
}
TREFOIL_MPI_SHOWN PMPI_Comm_free(MPI_Comm* comm) {
    static auto* const below = TREFOIL_MPI_NEXT(PMPI_Comm_free);
    return give_up(comm, below);
}
TREFOIL_MPI_SHOWN PMPI_Comm_disconnect(MPI_Comm* comm) {
    static auto* const below = TREFOIL_MPI_NEXT(PMPI_Comm_disconnect);
    return give_up(comm, below);
}
#endif

TREFOIL_MPI_SHOWN MPI_Init(int* argc, char*** argv) {
    return begin([&] { return TREFOIL_MPI_NEXT(MPI_Init)(argc, argv); });
}
TREFOIL_MPI_SHOWN MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    return begin([&] { return TREFOIL_MPI_NEXT(MPI_Init_thread)(argc, argv, required, provided); });
}
TREFOIL_MPI_SHOWN MPI_Comm_free(MPI_Comm* comm) {
    static auto* const below = TREFOIL_MPI_NEXT(MPI_Comm_free);
    return give_up(comm, below);
}
TREFOIL_MPI_SHOWN MPI_Comm_disconnect(MPI_Comm* comm) {
    static auto* const below = TREFOIL_MPI_NEXT(MPI_Comm_disconnect);
    return give_up(comm, below);
}
