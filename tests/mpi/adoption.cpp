// SPDX-License-Identifier: BSD-3-Clause
// A program whose communicator Trefoil adopts once it has run for a while: all calls are right
// before, in between and after.
#include <cstdio>

#include "mpi/api.hpp"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    // Time to afford it, and calls enough on a busy machine, where ranks wait for their cores.
    constexpr double seconds = 2, most_seconds = 40;
    constexpr int least = 3000, most = 1 << 24;
    const double begin = MPI_Wtime();
    int wrong = 0;
    bool over = false;
    for (int i = 0; i < most && !over; ++i) {
        const double lasted = MPI_Wtime() - begin;
        const int mine[2] = {rank + i, lasted > (i < least ? most_seconds : seconds) ? 1 : 0};
        int greatest[2] = {-1, -1};
        MPI_Allreduce(mine, greatest, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        wrong += greatest[0] != ranks - 1 + i ? 1 : 0;
        over = greatest[1] == 1;
        int value = rank == 0 ? i : -1;
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        wrong += value != i ? 1 : 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("%d failure(s)\n", wrong);
    }
    MPI_Finalize();
    return wrong != 0;
}
