// SPDX-License-Identifier: BSD-3-Clause
// How long a small call takes that is issued behind a large one. Run by several ranks:
// trefoil run --net 3x3 -- trefoil_fairness [bytes of the large call] [bytes of the small one].
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "trefoil/trefoil.hpp"

namespace {

using Clock = std::chrono::steady_clock;

void require(trefoil_status_t status) {
    if (status != TREFOIL_SUCCESS) {
        std::printf("%s\n", trefoil_last_error(nullptr));
        std::exit(EXIT_FAILURE);
    }
}

double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

struct Sums {
    explicit Sums(std::size_t bytes) : in(bytes / sizeof(float), 1), out(in.size()) {}
    void check(int ranks) const {
        if (std::any_of(out.begin(), out.end(), [&](float sum) { return sum != float(ranks); })) {
            std::printf("a wrong sum\n");
            std::exit(EXIT_FAILURE);
        }
    }
    std::vector<float> in, out;
};

/// Milliseconds of one blocking allreduce.
double timed(Sums& sums, trefoil_comm_t comm, int ranks) {
    std::fill(sums.out.begin(), sums.out.end(), 0.0F);
    const auto begin = Clock::now();
    require(trefoil_allreduce(sums.in.data(), sums.out.data(), sums.in.size(), TREFOIL_FLOAT,
                              TREFOIL_SUM, comm));
    const double time = milliseconds_since(begin);
    sums.check(ranks);
    return time;
}

void print(const char* what, std::vector<double> times) {
    std::sort(times.begin(), times.end());
    std::printf("| %s | %zu | %.3f | %.3f | %.3f |\n", what, times.size(), times.front(),
                times[times.size() / 2], times.back());
}

}  // namespace

int main(int argc, char** argv) {
    const auto size = [&](int i, std::size_t otherwise) {
        return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
    };
    constexpr int alone_calls = 100, behind_calls = 20;
    Sums large(size(1, std::size_t{4} << 20)), small(size(2, 8));
    trefoil_comm_t comm = nullptr;
    require(trefoil_comm_create(nullptr, &comm));
    int rank = 0, ranks = 0;
    require(trefoil_comm_rank(comm, &rank));
    require(trefoil_comm_size(comm, &ranks));
    std::vector<double> alone, behind, large_alone, large_with;
    timed(small, comm, ranks);
    timed(large, comm, ranks);
    for (int i = 0; i < alone_calls; ++i) {
        alone.push_back(timed(small, comm, ranks));
    }
    large_alone.push_back(timed(large, comm, ranks));
    // All ranks make the same calls, so each large one has the same number of small ones behind it;
    // the last of these may find it complete.
    for (int i = 0; i < 3; ++i) {
        require(trefoil_barrier(comm));
        trefoil_request_t request = TREFOIL_REQUEST_NULL;
        const auto begin = Clock::now();
        require(trefoil_iallreduce(large.in.data(), large.out.data(), large.in.size(),
                                   TREFOIL_FLOAT, TREFOIL_SUM, comm, &request));
        for (int j = 0; j < behind_calls; ++j) {
            const double time = timed(small, comm, ranks);
            int done = 0;
            require(trefoil_test(&request, &done));
            if (done == 0) {
                behind.push_back(time);
            }
        }
        require(trefoil_wait(&request));
        large_with.push_back(milliseconds_since(begin));
        large.check(ranks);
    }
    if (rank == 0) {
        std::printf(
            "| call | times | least ms | median ms | longest ms |\n"
            "| --- | --- | --- | --- | --- |\n");
        print("small, alone", alone);
        if (behind.empty()) {
            std::printf("| small, behind a large one | 0 | the large one was over at once | | |\n");
        } else {
            print("small, behind a large one", behind);
        }
        print("large, alone", large_alone);
        print("large, with small ones behind it", large_with);
    }
    require(trefoil_comm_destroy(comm));
    return EXIT_SUCCESS;
}
