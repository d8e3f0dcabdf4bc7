// SPDX-License-Identifier: BSD-3-Clause
// Jobs that say nothing of their torus, on an emulated machine that is one.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "process_job.hpp"

namespace trefoil::test {
namespace {

/// What ranks expect: sizes, and who has decided on them.
struct Expected {
    std::vector<int> sizes;
    std::string source;
};

int look_and_sum(trefoil_comm_t comm, int ranks, const Expected& expected) {
    int dimensions = 0;
    std::array<int, 8> sizes{};
    const char* source = nullptr;
    if (trefoil_comm_torus(comm, &dimensions, sizes.data(), static_cast<int>(sizes.size())) !=
            TREFOIL_SUCCESS ||
        trefoil_comm_torus_source(comm, &source) != TREFOIL_SUCCESS) {
        return 1;
    }
    if (std::vector<int>(sizes.begin(), sizes.begin() + dimensions) != expected.sizes ||
        source != expected.source) {
        fprintf(stderr, "%d dimensions, %d first, by %s\n", dimensions, sizes[0], source);
        return 2;
    }
    for (const std::size_t count : {1U, 20'000U}) {
        std::vector<int> data(count, 1);
        if (trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_INT32, TREFOIL_SUM,
                              comm) != TREFOIL_SUCCESS ||
            data != std::vector<int>(count, ranks)) {
            return 3;
        }
    }
    return 0;
}

void expect_torus(const char* shape, int ranks, const Expected& expected,
                  const std::string& backend = "utofu") {
    SCOPED_TRACE(shape);
    const Job job =
        start(ranks, "", backend.c_str(),
              [&](int, trefoil_comm_t comm) { return look_and_sum(comm, ranks, expected); },
              {{"EMULATED_TOFU_SHAPE", shape}});
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + std::chrono::seconds(60);
    for (const pid_t pid : job.pids) {
        EXPECT_EQ(finish(pid, deadline), 0);
    }
}

TEST(MachineTorus, IsTheJobsOwn) {
    expect_torus("1.1.1.2.3.1", 6, {{2, 3}, "the machine's coordinates"});
    expect_torus("2.1.1.2.1.2", 8, {{4, 2}, "the machine's coordinates"});
}

TEST(MachineTorus, MayBeAMesh) {
    expect_torus("3.2.1.1.1.1", 6, {{3, 2}, "the machine's coordinates"});
}

TEST(MachineTorus, IsNotMadeOfABoxWithHoles) {
    expect_torus("2.1.1.1.2.2", 6, {{3, 2}, "balanced by default"});
}

TEST(MachineTorus, IsNotForOtherTransports) {
    expect_torus("1.1.1.2.3.1", 6, {{3, 2}, "balanced by default"}, "memory");
}

}  // namespace
}  // namespace trefoil::test
