// SPDX-License-Identifier: BSD-3-Clause
// The C++ interface in one page: every rank contributes its number, every rank gets the sum.
#include <cstdio>
#include <cstdlib>
#include <span>
#include <trefoil/trefoil.hpp>
#include <vector>

int main() {
    try {
        trefoil::Comm comm;  // rank and torus: from the environment
        std::vector<float> values(1000);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<float>(comm.rank() + static_cast<int>(i));
        }
        comm.allreduce(std::span(values));

        const int ranks = comm.size();
        int wrong = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const int expected = ranks * (ranks - 1) / 2 + ranks * static_cast<int>(i);
            wrong += values[i] == static_cast<float>(expected) ? 0 : 1;
        }
        std::printf("rank %d of %d: %d of %zu sums are wrong\n", comm.rank(), ranks, wrong,
                    values.size());
        comm.barrier();  // nobody needs this rank any more
        return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const trefoil::CallFailed& error) {
        std::fprintf(stderr, "%s: %s\n", trefoil_status_string(error.status()), error.what());
        return EXIT_FAILURE;
    }
}
