// SPDX-License-Identifier: BSD-3-Clause
// Windows have communicators that the program does not see: they are MPI's.
#include "check.hpp"

using namespace trefoil::mpi::test;

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    look_at(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 5; ++i) {
        int* mine = nullptr;
        int read = -1;
        MPI_Win window = MPI_WIN_NULL;
        MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
        *mine = input(rank, i);
        MPI_Win_fence(0, window);
        MPI_Get(&read, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, window);
        MPI_Win_fence(0, window);
        EXPECT(read == input((rank + 1) % ranks, i));
        MPI_Win_free(&window);
    }
    // The program's own first call on a communicator sets it up.
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
    EXPECT(sum == ranks);
    MPI_Comm_free(&copy);
    return finish();
}
