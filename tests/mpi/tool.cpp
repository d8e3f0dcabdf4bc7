// SPDX-License-Identifier: BSD-3-Clause
// A profiling tool as others write them: it takes MPI's names, counts, and calls the PMPI_ ones.
#include <cstdio>

#include "mpi/api.hpp"

#define SHOWN extern "C" [[gnu::visibility("default")]] int

namespace {

int inits = 0, allreduces = 0, bcasts = 0, barriers = 0, frees = 0;

}  // namespace

SHOWN MPI_Init(int* argc, char*** argv) {
    ++inits;
    return PMPI_Init(argc, argv);
}
SHOWN MPI_Allreduce(const void* send, void* recv, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm) {
    ++allreduces;
    return PMPI_Allreduce(send, recv, count, type, op, comm);
}
SHOWN MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    ++bcasts;
    return PMPI_Bcast(buffer, count, type, root, comm);
}
SHOWN MPI_Barrier(MPI_Comm comm) {
    ++barriers;
    return PMPI_Barrier(comm);
}
SHOWN MPI_Comm_free(MPI_Comm* comm) {
    ++frees;
    return PMPI_Comm_free(comm);
}
SHOWN MPI_Finalize() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("the tool saw %d init, %d allreduces, %d bcasts, %d barriers, %d frees\n",
                    inits, allreduces, bcasts, barriers, frees);
    }
    return PMPI_Finalize();
}
