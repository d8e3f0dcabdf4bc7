// SPDX-License-Identifier: BSD-3-Clause
// One rank of a job with calls in flight, many and of any mix; all results are checked.
//
// Usage: mixed_rank CALLS [SEED [IN_FLIGHT]]. Everything else comes from TREFOIL_*. Rank 0 prints
// how many calls were right and how long they took. Exit code 0: all were right on this rank.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/comm/communicator/mixed_calls.hpp"

int main(int count, char** arguments) {
    if (count < 2 || count > 4) {
        std::fprintf(stderr, "usage: %s CALLS [SEED [IN_FLIGHT]]\n", arguments[0]);
        return 2;
    }
    trefoil::test::Mix mix;
    mix.calls = std::strtoull(arguments[1], nullptr, 10);
    mix.seed = count > 2 ? static_cast<unsigned>(std::strtoul(arguments[2], nullptr, 10)) : 1;
    mix.in_flight = count > 3 ? std::strtoull(arguments[3], nullptr, 10) : mix.in_flight;
    trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
    trefoil_comm_t comm = nullptr;
    if (trefoil_comm_create(&config, &comm) != TREFOIL_SUCCESS) {
        std::fprintf(stderr, "%s\n", trefoil_last_error(nullptr));
        return EXIT_FAILURE;
    }
    int rank = 0, ranks = 0;
    trefoil_comm_rank(comm, &rank);
    trefoil_comm_size(comm, &ranks);
    const auto begin = std::chrono::steady_clock::now();
    const trefoil::test::Mixed mixed = trefoil::test::run_mixed_calls({comm}, mix);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (!mixed.wrong.empty()) {
        std::fprintf(stderr, "rank %d: after %zu calls: %s\n", rank, mixed.calls,
                     mixed.wrong.c_str());
        return EXIT_FAILURE;
    }
    if (trefoil_barrier(comm) != TREFOIL_SUCCESS) {
        std::fprintf(stderr, "rank %d: %s\n", rank, trefoil_last_error(comm));
        return EXIT_FAILURE;
    }
    if (rank == 0) {
        std::printf("%zu calls on %d ranks, up to %zu in flight, all right, %.1f s\n", mixed.calls,
                    ranks, mixed.most, seconds.count());
    }
    return trefoil_comm_destroy(comm) == TREFOIL_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
