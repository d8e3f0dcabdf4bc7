// SPDX-License-Identifier: BSD-3-Clause
// What the MPI test programs share: counting what is wrong, and numbers to send.
#pragma once

#include <cstdio>
#include <vector>

#include "persistent.hpp"

namespace trefoil::mpi::test {

inline int failures = 0;
inline int rank = 0, ranks = 0;

/// Counts and names what is not so; the first few of a rank are printed.
inline void expect(bool good, const char* what, int line) {
    if (!good && ++failures <= 5) {
        std::fprintf(stderr, "rank %d of %d: line %d: %s\n", rank, ranks, line, what);
    }
}
#define EXPECT(condition) ::trefoil::mpi::test::expect((condition), #condition, __LINE__)

/// A number that tells rank and place.
inline int input(int of_rank, int i) {
    return 1000 * (of_rank + 1) + i;
}

inline std::vector<int> inputs(int of_rank, int count) {
    std::vector<int> numbers(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        numbers[static_cast<std::size_t>(i)] = input(of_rank, i);
    }
    return numbers;
}

inline void look_at(MPI_Comm comm) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
}

/// Ends MPI; the exit code tells whether any rank has failed.
inline int finish() {
    int all = 0;
    // Of a component both names lead to Trefoil, which may be what has failed.
    if (PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS) {
        all = failures + 1;
    }
    look_at(MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("%d failure(s)\n", all);
    }
    MPI_Finalize();
    return all == 0 ? 0 : 1;
}

// The parts of the program.
void check_reductions();
void check_user_operations();
void check_movements();
void check_signatures();
void check_vector_variants();
void check_exchanges();
void check_layouts();
void check_large_counts();
void check_communicators();
void check_progress();
void check_threads(bool multiple);
void check_errors();
/// `looks_first`: MPI looks at arguments before it calls Trefoil.
void check_wrong_arguments(bool looks_first);
void check_alltoallw_of_some();
void check_aliased_neighbours();

}  // namespace trefoil::mpi::test
