// SPDX-License-Identifier: BSD-3-Clause
// Windows and an intercommunicator have communicators that the program does not see: they are
// MPI's.
#include "check.hpp"

using namespace trefoil::mpi::test;

namespace {

/// Its root sends to the first rank of the others, which scatter among themselves: in Open MPI that
/// rank and the others do so from different places.
void check_intercommunicator() {
    MPI_Comm mine = MPI_COMM_NULL, both = MPI_COMM_NULL;
    const int side = rank == 0 ? 0 : 1;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &mine);
    MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, side == 0 ? 1 : 0, 0, &both);
    for (const int count : {1, 1000}) {
        const std::vector<int> all = inputs(0, count * (ranks - 1));
        std::vector<int> part(static_cast<std::size_t>(count), -1);
        MPI_Scatter(all.data(), count, MPI_INT, part.data(), count, MPI_INT,
                    side == 0 ? MPI_ROOT : 0, both);
        EXPECT(side == 0 || part.back() == input(0, count * rank - 1));
    }
    MPI_Comm_free(&both);
    MPI_Comm_free(&mine);
}

}  // namespace

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
    check_intercommunicator();
    // The program's own first call on a communicator sets it up.
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
    EXPECT(sum == ranks);
    MPI_Comm_free(&copy);
    return finish();
}
