// SPDX-License-Identifier: BSD-3-Clause
// Ranks that come late, and ranks that leave behind what others free: MPI waits for the former as
// long as it takes, and for the latter not at all. An argument tells how many seconds are late.
#include "in_flight.hpp"

#include <chrono>
#include <cstdlib>
#include <thread>

using namespace trefoil::mpi::test;

namespace {

void check_sum(MPI_Comm comm) {
    int one = 1, sum = 0;
    EXPECT(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    EXPECT(sum == ranks);
}

/// In the first call of a communicator, and in a later one.
void check_late(std::chrono::seconds time) {
    MPI_Comm comms[2];
    for (MPI_Comm& comm : comms) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    check_sum(comms[1]);
    for (const MPI_Comm comm : comms) {
        if (rank == 0) {
            std::this_thread::sleep_for(time);
        }
        check_sum(comm);
    }
    for (MPI_Comm& comm : comms) {
        MPI_Comm_free(&comm);
    }
}

/// Rank 0 frees its request, and the others never do.
void leave_requests() {
    static const Ints mine = inputs(rank, 5);
    static Ints sums = filled(5);
    MPI_Request request = MPI_REQUEST_NULL;
    PERSISTENT(Allreduce)
    (mine.data(), sums.data(), 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(is_sum(sums, ranks));
    if (rank == 0) {
        MPI_Request_free(&request);
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    look_at(MPI_COMM_WORLD);
    check_late(std::chrono::seconds(argc > 1 ? std::atoi(argv[1]) : 1));
    if (try_persistent) {
        leave_requests();
    }
    return finish();
}
