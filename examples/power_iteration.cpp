// SPDX-License-Identifier: BSD-3-Clause
// The largest eigenvalue of a matrix whose rows are spread over the ranks: allgather and allreduce
// in a loop, as in most iterative solvers.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <trefoil/trefoil.hpp>
#include <vector>

namespace {

constexpr std::size_t rows_per_rank = 40;

/// The matrix of a chain of masses and springs: 2 on the diagonal, -1 beside it. Its largest
/// eigenvalue is 2 + 2 cos(pi / (n + 1)).
double times_row(std::size_t row, std::span<const double> vector) {
    const double before = row > 0 ? vector[row - 1] : 0;
    const double after = row + 1 < vector.size() ? vector[row + 1] : 0;
    return 2 * vector[row] - before - after;
}

}  // namespace

int main() {
    try {
        trefoil::Comm comm;  // rank, number of ranks and torus: from the launcher
        const auto rank = static_cast<std::size_t>(comm.rank());
        const std::size_t n = rows_per_rank * static_cast<std::size_t>(comm.size());
        std::vector<double> all(n), mine(rows_per_rank);
        for (std::size_t i = 0; i < n; ++i) {
            all[i] = i % 2 == 0 ? 1 : -0.9;  // not the eigenvector, but not far from it
        }
        double eigenvalue = 0;
        for (int iteration = 0; iteration < 2000; ++iteration) {
            // Each rank multiplies its own rows; sums[0] is the square of the product's length,
            // sums[1] its product with the vector before.
            std::vector<double> sums(2);
            for (std::size_t i = 0; i < rows_per_rank; ++i) {
                const std::size_t row = rank * rows_per_rank + i;
                mine[i] = times_row(row, all);
                sums[0] += mine[i] * mine[i];
                sums[1] += mine[i] * all[row];
            }
            comm.allreduce(std::span(sums));  // in place
            eigenvalue = sums[0] / sums[1];
            for (double& value : mine) {
                value /= std::sqrt(sums[0]);
            }
            // Every rank needs the whole vector again.
            comm.allgather(std::span<const double>(mine), std::span(all));
        }
        const double exact = 2 + 2 * std::cos(std::acos(-1.0) / static_cast<double>(n + 1));
        const double error = std::abs(eigenvalue - exact);
        if (comm.rank() == 0) {
            std::printf("%d ranks, %zu rows: largest eigenvalue %.6f, exact %.6f, error %.1e\n",
                        comm.size(), n, eigenvalue, exact, error);
        }
        comm.barrier();  // nobody needs this rank any more
        return error < 1e-3 ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const trefoil::CallFailed& error) {
        std::fprintf(stderr, "%s: %s\n", trefoil_status_string(error.status()), error.what());
        return EXIT_FAILURE;
    }
}
