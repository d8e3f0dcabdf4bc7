// SPDX-License-Identifier: BSD-3-Clause
// The steady state: repeated calls allocate nothing, neither on the calling nor on the port
// threads, also while a timeline is kept.
#include <cstdlib>
#include <filesystem>

#include "tests/threads/allocations.hpp"
#include "thread_job.hpp"

namespace trefoil::test {
namespace {

void expect_no_allocations(const std::string& shape, int ranks, int port_threads) {
    JobOptions options;
    options.torus = shape;
    options.port_threads = port_threads;
    run_ranks(ranks, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        const std::vector<std::size_t> counts{1, 100, 5000, 400'000};
        std::vector<float> data(counts.back(), 1.0F);
        const auto round = [&] {
            for (const std::size_t count : counts) {
                ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_FLOAT,
                                            TREFOIL_MAX, comm),
                          TREFOIL_SUCCESS);
            }
            ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        };
        round();  // makes plans, channels and buffers
        round();
        // The barriers keep other ranks' set-up out of the counted span: the count is the
        // process's.
        const long before = allocations_of_all_threads();
        EXPECT_GT(before, 0) << "the counter does not count";
        for (int i = 0; i < 20; ++i) {
            round();
        }
        const long after = allocations_of_all_threads();
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        EXPECT_EQ(after - before, 0) << "rank " << rank << " on " << shape;
    });
}

TEST(SteadyState, AllocatesNothingOnTheCallingThread) {
    expect_no_allocations("3x3", 9, -1);
}
TEST(SteadyState, AllocatesNothingWithPortThreads) {
    expect_no_allocations("2x2", 4, 2);
}
TEST(SteadyState, AllocatesNothingWithATimeline) {
    std::string directory = testing::TempDir() + "trefoil-trace-XXXXXX";
    ASSERT_NE(mkdtemp(directory.data()), nullptr);
    setenv("TREFOIL_TRACE", (directory + "/out.json").c_str(), 1);
    setenv("TREFOIL_TRACE_EVENTS", "100", 1);  // full before the counted span ends
    expect_no_allocations("2x2", 4, 2);
    unsetenv("TREFOIL_TRACE");
    unsetenv("TREFOIL_TRACE_EVENTS");
    EXPECT_TRUE(std::filesystem::exists(directory + "/out.3.json"));
    std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace trefoil::test
