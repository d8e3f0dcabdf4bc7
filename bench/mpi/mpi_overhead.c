/* SPDX-License-Identifier: BSD-3-Clause */
/* What the MPI layer adds to a call that it passes on: an 8-byte allreduce through MPI_Allreduce,
   which the layer sees, in turns with PMPI_Allreduce, which it does not. For scripts/mpi-check.

   Usage: mpi_overhead, under the layer, with a TREFOIL_MPI that leaves the call to MPI. Blocks of
   calls of both kinds alternate; their times are sorted, and the median and the fastest of either
   kind are compared. Of two and more ranks the first one's times count. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { blocks = 400, calls = 500 };

static int by_size(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

/* Nanoseconds per call, of one block. */
static double block_time(int with_layer, MPI_Comm comm) {
    double value = 1, sum = 0;
    const double begin = MPI_Wtime();
    for (int i = 0; i < calls; ++i) {
        if (with_layer) {
            MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
        } else {
            PMPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
        }
    }
    return (MPI_Wtime() - begin) * 1e9 / calls;
}

static void compare(const char* name, MPI_Comm comm, int rank) {
    static double times[2][blocks];
    for (int i = -10; i < blocks; ++i) { /* the first ones warm up */
        for (int kind = 0; kind < 2; ++kind) {
            const double time = block_time((kind + i) & 1, comm); /* either one may be first */
            if (i >= 0) {
                times[(kind + i) & 1][i] = time;
            }
        }
    }
    for (int kind = 0; kind < 2; ++kind) {
        qsort(times[kind], blocks, sizeof(double), by_size);
    }
    if (rank == 0) {
        printf(
            "%-15s median %8.1f ns with the layer, %8.1f without: %+7.1f ns; fastest %8.1f and "
            "%8.1f: %+7.1f ns\n",
            name, times[1][blocks / 2], times[0][blocks / 2],
            times[1][blocks / 2] - times[0][blocks / 2], times[1][0], times[0][0],
            times[1][0] - times[0][0]);
    }
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    compare("MPI_COMM_SELF", MPI_COMM_SELF, rank);
    compare("MPI_COMM_WORLD", MPI_COMM_WORLD, rank);
    MPI_Finalize();
    return 0;
}
