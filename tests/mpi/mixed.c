/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks in C of a job whose other ranks run mixed.f90: they make the same calls. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank = 0, ranks = 0, sum = 0, failures = 0, all = 0;
    double value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    failures += sum != ranks * (ranks - 1) / 2;
    value = rank;
    MPI_Bcast(&value, 1, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD);
    failures += value != ranks - 1;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d failure(s)\n", all);
    }
    MPI_Finalize();
    return failures != 0;
}
