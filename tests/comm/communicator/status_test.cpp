// SPDX-License-Identifier: BSD-3-Clause
// What a communicator says of itself while its calls hang, run, or are held up.
#include <atomic>
#include <chrono>
#include <thread>

#include "sum_in_flight.hpp"

namespace trefoil::test::status_test {
namespace {

using Clock = std::chrono::steady_clock;

std::string status_of(trefoil_comm_t comm) {
    char text[4096];
    EXPECT_EQ(trefoil_comm_status(comm, text, sizeof text), ok) << trefoil_last_error(nullptr);
    return text;
}

bool has(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

/// Asks until it says what is wanted, or for too long.
template <typename Wanted>
std::string status_until(trefoil_comm_t comm, Wanted wanted) {
    const auto deadline = Clock::now() + std::chrono::seconds(20);
    std::string text = status_of(comm);
    while (!wanted(text) && Clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        text = status_of(comm);
    }
    return text;
}
std::string status_with(trefoil_comm_t comm, const std::string& words) {
    return status_until(comm, [&](const std::string& text) { return has(text, words); });
}

/// Rank 2 comes when rank 0 has said that it waits for it.
void hang(const JobOptions& options, bool blocking) {
    std::atomic<bool> come{false};
    run_ranks(3, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        int mine = rank, sum = -1;
        while (rank == 2 && !come) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        trefoil_request_t request = TREFOIL_REQUEST_NULL;
        std::thread caller([&] {
            trefoil_status_t status = ok;
            if (blocking) {
                status = trefoil_allreduce(&mine, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm);
            } else {
                status =
                    trefoil_iallreduce(&mine, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm, &request);
                status = status == ok ? trefoil_wait(&request) : status;
            }
            EXPECT_EQ(status, ok) << trefoil_last_error(nullptr);
        });
        if (rank == 0) {
            // A message of rank 1 may still be on its way when rank 0 begins to wait.
            const std::string text = status_until(comm, [](const std::string& said) {
                return has(said, "rank 2 ") && !has(said, "rank 1 ");
            });
            EXPECT_TRUE(has(text, "rank 2 ")) << text;
            EXPECT_TRUE(has(text, "communicator of 3 ranks (3), rank 0: 1 calls made, 1 in flight"))
                << text;
            EXPECT_TRUE(has(text, "call 1, allreduce of 1 int32")) << text;
            EXPECT_TRUE(has(text, "segment 1 of 1; waits for ")) << text;
            EXPECT_FALSE(has(text, "rank 1 ")) << "it has sent all that it can: " << text;
            come = true;
        }
        caller.join();
        EXPECT_EQ(sum, 3);
        EXPECT_TRUE(has(status_of(comm), "not inside Trefoil; ")) << status_of(comm);
        EXPECT_TRUE(has(status_of(comm), "1 calls made, 0 in flight"));
    });
}

TEST(Status, SaysForWhomABlockingCallWaits) {
    hang(on("3"), true);
}
TEST(Status, SaysForWhomARequestWaits) {
    hang(on("3"), false);
}
TEST(Status, WithPortThreads) {
    hang(on("3", 2), true);
}

TEST(Status, SaysForWhomACommunicatorThatIsMadeWaits) {
    std::atomic<bool> come{false};
    run_ranks(3, on("3"), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        while (rank == 2 && !come) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        trefoil_comm_t made = nullptr;
        std::thread caller([&] {
            EXPECT_EQ(trefoil_comm_split(comm, 0, rank, &made), ok) << trefoil_last_error(nullptr);
        });
        if (rank == 0) {
            const std::string text = status_until(comm, [](const std::string& said) {
                return has(said, "rank 2") && !has(said, "rank 1");
            });
            EXPECT_TRUE(has(text, "call 1, trefoil_comm_split: waits for rank 2\n")) << text;
            EXPECT_TRUE(has(text, "0 calls made, 1 in flight; nothing has moved for ")) << text;
            EXPECT_FALSE(has(text, "not inside Trefoil")) << text;
            come = true;
        }
        caller.join();
        EXPECT_TRUE(has(status_of(comm), "not inside Trefoil; ")) << status_of(comm);
        EXPECT_TRUE(has(status_of(comm), "0 calls made, 0 in flight")) << status_of(comm);
        EXPECT_EQ(trefoil_comm_destroy(made), ok);
    });
}

/// Looks at any moment change nothing.
void look_at_running_calls(const JobOptions& options, int ranks) {
    run_ranks(ranks, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        std::atomic<bool> done{false};
        std::thread looker([&] {
            while (rank == 0 && !done) {
                (void)status_of(comm);
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });
        for (int i = 0; i < 100; ++i) {
            std::vector<int> mine(i % 2 == 0 ? 1 : 3000, rank + i), sum(mine.size());
            ASSERT_EQ(trefoil_allreduce(mine.data(), sum.data(), mine.size(), TREFOIL_INT32,
                                        TREFOIL_SUM, comm),
                      ok)
                << trefoil_last_error(nullptr);
            ASSERT_EQ(sum.back(), ranks * (ranks - 1) / 2 + ranks * i);
        }
        done = true;
        looker.join();
    });
}

TEST(Status, LooksDisturbNothing) {
    look_at_running_calls(on("2x2"), 4);
}
TEST(Status, LooksDisturbNoPortThreads) {
    look_at_running_calls(on("2x2", 2), 4);
}

void slow_sum(const void* in, void* inout, size_t elements, void*) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1800));
    for (size_t i = 0; i < elements; ++i) {
        static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
    }
}

TEST(Status, SaysThatTheProgramHoldsItUp) {
    trefoil_op_t slow{};
    ASSERT_EQ(trefoil_op_create(slow_sum, nullptr, sizeof(int), 1, &slow), ok);
    run_ranks(2, on("2"), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        int mine = rank, sum = -1;
        std::thread caller(
            [&] { EXPECT_EQ(trefoil_allreduce(&mine, &sum, 1, TREFOIL_INT32, slow, comm), ok); });
        EXPECT_TRUE(has(status_with(comm, "wait for is unknown"), "wait for is unknown"));
        caller.join();
        EXPECT_EQ(sum, 1);
    });
    EXPECT_EQ(trefoil_op_free(slow), ok);
}

TEST(Status, FailedCallsAreOver) {
    run_ranks(2, on("2"), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        int values[2] = {0, 0}, sums[2];
        const std::size_t count = rank == 0 ? 1 : 2;  // they disagree
        EXPECT_EQ(trefoil_allreduce(values, sums, count, TREFOIL_INT32, TREFOIL_SUM, comm),
                  TREFOIL_ERROR_MISMATCH);
        const std::string text = status_of(comm);
        EXPECT_TRUE(has(text, "0 in flight")) << text;
        EXPECT_TRUE(has(text, "it has failed: ")) << text;
    });
}

TEST(Status, RefusesBadPlacesAndCutsLongTexts) {
    run_ranks(1, on("1"), [&](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        char text[12] = "unchanged";
        EXPECT_EQ(trefoil_comm_status(comm, nullptr, 8), TREFOIL_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(trefoil_comm_status(comm, text, 0), TREFOIL_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(std::string(text), "unchanged");
        EXPECT_EQ(trefoil_comm_status(comm, text, sizeof text), ok);
        EXPECT_EQ(std::string(text), "not inside ");
        EXPECT_EQ(trefoil_comm_status(nullptr, text, sizeof text), TREFOIL_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(std::string(text), "");
    });
}

}  // namespace
}  // namespace trefoil::test::status_test
