// SPDX-License-Identifier: BSD-3-Clause
// Duplicates of MPI_COMM_WORLD beside it: calls on them in turns and under way together, and ends
// in another order than they were made.
#include <array>
#include <chrono>
#include <thread>

#include "check.hpp"

using namespace trefoil::mpi::test;

namespace {

constexpr int elements = 10'000;

/// An allreduce, a scan in the ranks' order, and calls of a root.
void check_calls(MPI_Comm comm, int root) {
    const std::vector<int> mine = inputs(rank, elements);
    std::vector<int> sums(mine), prefix(mine);
    MPI_Allreduce(mine.data(), sums.data(), elements, MPI_INT, MPI_SUM, comm);
    MPI_Scan(mine.data(), prefix.data(), elements, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < elements; ++i) {
        int sum = 0, sum_to_here = 0;
        for (int r = 0; r < ranks; ++r) {
            sum += input(r, i);
            sum_to_here += r <= rank ? input(r, i) : 0;
        }
        const auto place = static_cast<std::size_t>(i);
        EXPECT(sums[place] == sum && prefix[place] == sum_to_here);
    }
    int from_root = rank;
    MPI_Bcast(&from_root, 1, MPI_INT, root, comm);
    EXPECT(from_root == root);
    MPI_Barrier(comm);
}

/// One call on each, begun in an order that is the ranks' own.
void check_under_way(std::array<MPI_Comm, 3>& comms) {
    int one = 1;
    std::array<int, 3> sums{};
    std::array<MPI_Request, 3> requests{};
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t c = (i + static_cast<std::size_t>(rank)) % 3;
        MPI_Iallreduce(&one, &sums[c], 1, MPI_INT, MPI_SUM, comms[c], &requests[c]);
    }
    MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE);
    EXPECT(sums[0] == ranks && sums[1] == ranks && sums[2] == ranks);
}

void add(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) {
        static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
    }
}

/// Calls that begin while another communicator's call waits: the program's operation has to be set
/// up first, and what comes after it has to wait for that.
void check_begun_in_waits(MPI_Comm comm, MPI_Comm other, MPI_Op own_sum) {
    int one = 1, sum = 0;
    std::array<int, 2> sums{};
    std::array<MPI_Request, 2> requests{};
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Iallreduce(&one, &sums[0], 1, MPI_INT, own_sum, comm, &requests[0]);
    MPI_Iallreduce(&one, &sums[1], 1, MPI_INT, MPI_SUM, comm, &requests[1]);
    if (rank == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other);
    EXPECT(sum == ranks);
    MPI_Comm_dup(other, &copy);
    if (rank == ranks - 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
    EXPECT(sum == ranks);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    EXPECT(sums[0] == ranks && sums[1] == ranks);
    MPI_Comm_free(&copy);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    look_at(MPI_COMM_WORLD);
    MPI_Op own_sum = MPI_OP_NULL;
    MPI_Op_create(add, 1, &own_sum);
    MPI_Comm early = MPI_COMM_NULL;  // the only one that has no communicator to be copied from
    MPI_Comm_dup(MPI_COMM_WORLD, &early);
    check_calls(early, 0);
    check_calls(MPI_COMM_WORLD, ranks - 1);
    for (int round = 0; round < 20; ++round) {
        MPI_Comm first = MPI_COMM_NULL, second = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &first);
        check_calls(first, round % ranks);
        MPI_Comm_split(first, 0, rank, &second);
        check_calls(second, (round + 1) % ranks);
        std::array<MPI_Comm, 3> comms{MPI_COMM_WORLD, second, first};
        check_under_way(comms);
        if (argc == 1) {  // "predefined": no operations of the program's, which are set up apart
            check_begun_in_waits(second, MPI_COMM_WORLD, own_sum);
            check_begun_in_waits(first, second, own_sum);
        }
        MPI_Comm_free(&first);
        check_calls(second, round % ranks);
        check_calls(MPI_COMM_WORLD, round % ranks);
        if (round % 4 != 0) {  // the others are left to MPI_Finalize
            MPI_Comm_free(&second);
        }
    }
    MPI_Comm_free(&early);
    MPI_Op_free(&own_sum);
    return finish();
}
