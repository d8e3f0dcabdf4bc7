// SPDX-License-Identifier: BSD-3-Clause
// A call that hangs while calls of other communicators go on, and one that only has to wait long.
#include <atomic>
#include <chrono>
#include <thread>

#include "derived_job.hpp"

namespace trefoil::test::hanging_call_test {
namespace {

using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

/// With so many port threads.
class HangingCall : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(PortThreads, HangingCall, testing::Values(0, 2));

/// Until rank 0 says so, which all hear with the next sum.
template <typename Enough>
void sum_until(trefoil_comm_t comm, int rank, Enough&& enough) {
    for (int over = 0, all = 0; all == 0;) {
        over = rank == 0 && enough() ? 1 : 0;
        ASSERT_EQ(trefoil_allreduce(&over, &all, 1, TREFOIL_INT32, TREFOIL_SUM, comm),
                  TREFOIL_SUCCESS)
            << trefoil_last_error(comm);
    }
}

// Rank 1 never comes to a call on the duplicate.
TEST_P(HangingCall, EndsWhileOthersGoOn) {
    run_on(
        "2",
        [](int rank, trefoil_comm_t comm) {
            const Made dup = dup_of(comm);
            std::atomic<bool> ended{false};
            std::thread hangs;
            if (rank == 0) {
                hangs = std::thread([&] {
                    int one = 1, sum = 0;
                    EXPECT_EQ(trefoil_allreduce(&one, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, dup),
                              TREFOIL_ERROR_TIMEOUT)
                        << trefoil_last_error(dup);
                    ended = true;
                });
            }
            const auto begin = Clock::now();
            sum_until(comm, rank,
                      [&] { return ended || Clock::now() - begin > std::chrono::seconds(20); });
            if (rank == 0) {
                EXPECT_TRUE(ended) << "it hangs as long as others go on";
                EXPECT_GT(Seconds(Clock::now() - begin).count(), 0.9);
                hangs.join();
            }
            EXPECT_TRUE(sum_is_right(comm, 5));
        },
        GetParam(), 1);
}

// Rank 0 begins a call early and then makes others for longer than the timeout.
TEST_P(HangingCall, NobodyWaitsForItWhileOthersGoOn) {
    run_on(
        "2",
        [](int rank, trefoil_comm_t comm) {
            const Made dup = dup_of(comm);
            int one = 1, sum = 0;
            trefoil_request_t request = TREFOIL_REQUEST_NULL;
            const auto begin_it = [&] {
                ASSERT_EQ(
                    trefoil_iallreduce(&one, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, dup, &request),
                    TREFOIL_SUCCESS);
            };
            if (rank == 0) {
                begin_it();
            }
            const auto begin = Clock::now();
            sum_until(comm, rank,
                      [&] { return Clock::now() - begin > std::chrono::milliseconds(3500); });
            if (rank == 1) {
                begin_it();
            }
            EXPECT_EQ(trefoil_wait(&request), TREFOIL_SUCCESS) << trefoil_last_error(dup);
            EXPECT_EQ(sum, 2);
        },
        GetParam(), 1);
}

}  // namespace
}  // namespace trefoil::test::hanging_call_test
