// SPDX-License-Identifier: BSD-3-Clause
// Who began it: all ranks name the same rank first, without any launcher or process to look at.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "thread_job.hpp"

namespace trefoil::test {
namespace {

/// Suspicions travel from rank to rank, on machines that may be busy and under sanitizers.
constexpr double patience = 6;

// Most ranks have nothing to do with the one that is missing: they hear of it through others.
class CausesBy : public testing::TestWithParam<const char*> {};

TEST_P(CausesBy, ARankThatNeverComesIsNamedFirstByAllOthers) {
    const std::string algorithm = GetParam();
    JobOptions options;
    options.torus = "3x3";
    options.algorithm = algorithm;
    options.timeout_seconds = patience;
    run_ranks(9, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        std::vector<std::int32_t> data(500, rank);
        const auto allreduce = [&] {
            return trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), data.size(), TREFOIL_INT32,
                                     TREFOIL_SUM, comm);
        };
        ASSERT_EQ(allreduce(), TREFOIL_SUCCESS);
        if (rank == 4) {
            std::this_thread::sleep_for(std::chrono::duration<double>(patience + 1));
            const trefoil_status_t status = allreduce();
            // All messages for it may be here; if not, it hears that the others gave up on it.
            EXPECT_TRUE(status == TREFOIL_SUCCESS ||
                        (status == TREFOIL_ERROR_TIMEOUT &&
                         std::string(trefoil_last_error(comm)).find("rank 4 ") == 0))
                << trefoil_last_error(comm);
            return;
        }
        EXPECT_EQ(allreduce(), TREFOIL_ERROR_TIMEOUT);
        EXPECT_EQ(std::string(trefoil_last_error(comm)).find("rank 4 "), 0U)
            << algorithm << ": " << trefoil_last_error(comm);
    });
}

INSTANTIATE_TEST_SUITE_P(Algorithms, CausesBy, testing::Values("trivance-l", "ring"));

// What has failed and why is asked for while a call fails.
TEST(Causes, AnotherThreadMayAskForTheLastErrorMeanwhile) {
    JobOptions options;
    options.torus = "2";
    options.timeout_seconds = 0.3;
    run_ranks(2, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        if (rank == 1) {
            return;
        }
        std::atomic<bool> over{false};
        std::string seen;
        std::thread asks([&] {
            while (!over || seen.empty()) {
                seen = trefoil_last_error(comm);
                std::this_thread::sleep_for(std::chrono::microseconds(100));
            }
        });
        EXPECT_NE(trefoil_barrier(comm), TREFOIL_SUCCESS);
        over = true;
        asks.join();
        EXPECT_EQ(seen, trefoil_last_error(comm));
    });
}

}  // namespace
}  // namespace trefoil::test
