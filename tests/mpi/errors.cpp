// SPDX-License-Identifier: BSD-3-Clause
// What only the root of a gatherv or scatterv can see wrong: its own MPI error there, an error
// everywhere else instead of a wait, and a communicator that goes on. Without the layer MPI
// promises nothing of the kind.
#include "check.hpp"

using namespace trefoil::mpi::test;

namespace {

int class_of(int code) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    return error_class;
}

void print_failure(int code) {
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    if (rank == 0) {
        std::printf("%s\n", text);
    }
    EXPECT(code == MPI_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    look_at(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc > 1) {
        print_failure(MPI_Barrier(MPI_COMM_WORLD));
        return finish();
    }
    int a = 1, b = 0;
    std::vector<int> counts(static_cast<std::size_t>(ranks), -1), places(counts);
    // MPI below looks at the arguments before anything moves, so the root may ask it alone.
    const auto gatherv = [&](auto call) {
        return class_of(
            call(&a, 1, MPI_INT, &b, counts.data(), places.data(), MPI_INT, 0, MPI_COMM_WORLD));
    };
    const auto scatterv = [&](auto call) {
        return class_of(
            call(&a, counts.data(), places.data(), MPI_INT, &b, 1, MPI_INT, 0, MPI_COMM_WORLD));
    };
    const int gatherv_class = rank == 0 ? gatherv(PMPI_Gatherv) : MPI_ERR_ARG;
    const int scatterv_class = rank == 0 ? scatterv(PMPI_Scatterv) : MPI_ERR_ARG;
    EXPECT(gatherv_class != MPI_SUCCESS && scatterv_class != MPI_SUCCESS);
    EXPECT(gatherv(MPI_Gatherv) == gatherv_class);
    EXPECT(scatterv(MPI_Scatterv) == scatterv_class);
    MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(b == ranks);
    return finish();
}
