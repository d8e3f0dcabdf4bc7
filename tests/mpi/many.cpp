// SPDX-License-Identifier: BSD-3-Clause
// A program that keeps many communicators, more than descriptors may suffice for.
#include <cstdlib>

#include "check.hpp"

using namespace trefoil::mpi::test;

namespace {

/// By both kinds of shadow communicators: the second operation must stay in the calling thread.
void check_sum(MPI_Comm comm, MPI_Op own_sum) {
    int one = 1;
    for (const MPI_Op op : {MPI_SUM, own_sum}) {
        int sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, op, comm);
        EXPECT(sum == ranks);
    }
}

void add(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) {
        static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    look_at(MPI_COMM_WORLD);
    std::vector<MPI_Comm> copies(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 600);
    MPI_Op own_sum = MPI_OP_NULL;
    MPI_Op_create(add, 1, &own_sum);
    for (MPI_Comm& copy : copies) {
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        check_sum(copy, own_sum);
    }
    for (const MPI_Comm copy : copies) {
        std::vector<int> numbers = inputs(0, 10'000);
        if (rank != 0) {
            numbers.assign(numbers.size(), 0);
        }
        MPI_Bcast(numbers.data(), static_cast<int>(numbers.size()), MPI_INT, 0, copy);
        EXPECT(numbers == inputs(0, 10'000));
    }
    for (MPI_Comm& copy : copies) {
        MPI_Comm_free(&copy);
    }
    MPI_Op_free(&own_sum);
    return finish();
}
