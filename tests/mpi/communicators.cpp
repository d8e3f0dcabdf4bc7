// SPDX-License-Identifier: BSD-3-Clause
// Communicators of every origin, threads, MPI's progress, and wrong arguments.
#include <thread>

#include "check.hpp"

namespace trefoil::mpi::test {

namespace {

/// The sum of the ranks of `comm`, twice, by two collectives.
void check_comm(MPI_Comm comm) {
    int mine = 0, size = 0, sum = 0;
    MPI_Comm_rank(comm, &mine);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    EXPECT(sum == size * (size - 1) / 2);
    int from_last = mine;
    MPI_Bcast(&from_last, 1, MPI_INT, size - 1, comm);
    EXPECT(from_last == size - 1);
    MPI_Barrier(comm);
}

void check_splits() {
    for (int round = 0; round < 3; ++round) {  // handles come back
        MPI_Comm part = MPI_COMM_NULL, copy = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
        check_comm(part);
        MPI_Comm_dup(part, &copy);
        check_comm(copy);
        MPI_Comm_free(&part);
        check_comm(copy);
        MPI_Comm_free(&copy);
    }
    MPI_Group world = MPI_GROUP_NULL, but_last = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    const int last = ranks - 1;
    MPI_Group_excl(world, 1, &last, &but_last);
    if (rank != last) {
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Comm_create_group(MPI_COMM_WORLD, but_last, 5, &made);
        check_comm(made);
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&but_last);
}

void check_cartesian() {
    int sizes[2] = {0, 0};
    const int periods[2] = {1, 1}, kept[2] = {0, 1};
    MPI_Dims_create(ranks, 2, sizes);
    MPI_Comm torus = MPI_COMM_NULL, ring = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &torus);
    check_comm(torus);
    MPI_Cart_sub(torus, kept, &ring);
    check_comm(ring);
    MPI_Comm_free(&ring);
    // `torus` is left to MPI_Finalize.
}

void check_intercommunicator() {
    MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL, merged = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &between);
    int one = 1, sum = 0, others = 0;
    MPI_Comm_remote_size(between, &others);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, between);
    EXPECT(sum == others);
    MPI_Intercomm_merge(between, rank % 2, &merged);
    check_comm(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&between);
    MPI_Comm_free(&half);
}

int class_of(int code) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    return error_class;
}

}  // namespace

void check_communicators() {
    check_comm(MPI_COMM_SELF);
    check_splits();
    check_cartesian();
    if (ranks > 1) {
        check_intercommunicator();
    }
}

// Rank 0 owes rank 1 a message that needs rank 0's help to get through, and waits in a collective;
// rank 1 comes to the collective only when it has the message.
void check_progress() {
    const int count = 4 << 20;
    std::vector<int> message(static_cast<std::size_t>(rank < 2 && ranks > 1 ? count : 0), rank);
    MPI_Request request = MPI_REQUEST_NULL;
    // One that rank 0 has not asked for must not keep MPI from working.
    int unexpected = 0;
    if (ranks > 1 && rank == 1) {
        MPI_Send(&unexpected, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (ranks > 1 && rank == 0) {
        MPI_Isend(message.data(), count, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
    }
    if (ranks > 1 && rank == 1) {
        MPI_Recv(message.data(), count, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT(message.back() == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (ranks > 1 && rank == 0) {
        MPI_Recv(&unexpected, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

void check_threads(bool multiple) {
    if (!multiple) {
        return;
    }
    MPI_Comm comms[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    const auto sums = [](MPI_Comm comm, int* wrong) {
        for (int i = 0; i < 20; ++i) {
            int sum = 0;
            MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comm);
            *wrong += sum == i * ranks ? 0 : 1;
        }
    };
    int wrong[2] = {0, 0};
    std::thread other(sums, comms[0], &wrong[0]);
    sums(comms[1], &wrong[1]);
    other.join();
    EXPECT(wrong[0] == 0 && wrong[1] == 0);
    // Freed in different orders and threads: no order of theirs may matter.
    std::thread freer([&] { MPI_Comm_free(&comms[rank % 2]); });
    MPI_Comm_free(&comms[1 - rank % 2]);
    freer.join();
}

// All ranks alike: MPI's own error class comes back, and the communicator goes on.
void check_errors() {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int a = 1, b = 0;
    if (is_mpich()) {
        EXPECT(class_of(MPI_Allreduce(&a, &a, 1, MPI_INT, MPI_SUM, comm)) == MPI_ERR_BUFFER);
    } else {  // MPICH 4.0.2 crashes
        EXPECT(class_of(MPI_Allreduce(&a, &b, -1, MPI_INT, MPI_SUM, comm)) == MPI_ERR_COUNT);
    }
    EXPECT(class_of(MPI_Bcast(&a, 1, MPI_INT, ranks, comm)) == MPI_ERR_ROOT);
    EXPECT(class_of(MPI_Bcast(&a, 1, MPI_DATATYPE_NULL, 0, comm)) == MPI_ERR_TYPE);
    EXPECT(class_of(MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_OP_NULL, comm)) == MPI_ERR_OP);
    EXPECT(class_of(MPI_Allreduce(&a, &b, 1, MPI_FLOAT, MPI_BXOR, comm)) == MPI_ERR_OP);
    check_comm(comm);
    MPI_Comm_free(&comm);
}

}  // namespace trefoil::mpi::test
