// SPDX-License-Identifier: BSD-3-Clause
// An MPI program that checks its own results: right with the layer and without it.
#include "check.hpp"

using namespace trefoil::mpi::test;

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    look_at(MPI_COMM_WORLD);
    check_reductions();
    check_user_operations();
    check_movements();
    check_signatures();
    check_vector_variants();
    check_exchanges();
    check_layouts();
    check_large_counts();
    check_communicators();
    check_progress();
    check_threads(provided == MPI_THREAD_MULTIPLE);
    look_at(MPI_COMM_WORLD);
    check_errors();
    return finish();
}
