// SPDX-License-Identifier: BSD-3-Clause
// Aborts of what is alone, failed, destroyed or nothing, and texts that are too long.
#include <mutex>
#include <set>

#include "sum_in_flight.hpp"

namespace trefoil::test {
namespace {

TEST(AbortAlone, OfOneRank) {
    run_ranks(1, on("1"), [&](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        EXPECT_EQ(trefoil_comm_abort(comm, "alone"), ok);
        EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_ABORTED);
        EXPECT_EQ(std::string(trefoil_last_error(nullptr)), "rank 0 aborted: alone");
    });
}

TEST(AbortTexts, LongOnesAreCutAlikeOnAllRanks) {
    std::mutex mutex;
    std::set<std::string> texts;
    std::string text(299, 'x');
    text += "\xc3\xa4 and more";  // a character of two bytes would be cut in half
    run_ranks(4, on("2x2"), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        if (rank == 3) {
            EXPECT_EQ(trefoil_comm_abort(comm, text.c_str()), ok);
        }
        EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_ABORTED);
        const std::lock_guard lock(mutex);
        texts.insert(trefoil_last_error(comm));
    });
    EXPECT_EQ(texts, std::set<std::string>{"rank 3 aborted: " + std::string(299, 'x')});
}

TEST(AbortMistakes, AreRefusedInWords) {
    EXPECT_EQ(trefoil_comm_abort(nullptr, "x"), TREFOIL_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(trefoil_last_error(nullptr)), "the communicator is NULL");
    trefoil_comm_t kept = nullptr;
    run_ranks(1, on("1"), [&](int, trefoil_comm_t comm) {
        ASSERT_EQ(trefoil_comm_dup(comm, &kept), ok) << trefoil_last_error(nullptr);
        EXPECT_EQ(trefoil_comm_destroy(kept), ok);
        EXPECT_EQ(trefoil_comm_abort(kept, "x"), TREFOIL_ERROR_INVALID_ARGUMENT);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("destroyed"), std::string::npos);
    });
}

// What has failed before keeps its cause.
TEST(AbortMistakes, AFailedCommunicatorStaysAsItIs) {
    run_ranks(2, on("2"), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        int values[2] = {0, 0}, sums[2];
        const std::size_t count = rank == 0 ? 1 : 2;  // they disagree
        EXPECT_EQ(trefoil_allreduce(values, sums, count, TREFOIL_INT32, TREFOIL_SUM, comm),
                  TREFOIL_ERROR_MISMATCH);
        const std::string before = trefoil_last_error(comm);
        EXPECT_EQ(trefoil_comm_abort(comm, "too late"), ok);
        EXPECT_EQ(std::string(trefoil_last_error(comm)), before);
        EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_MISMATCH);
    });
}

TEST(AbortTexts, TheStatusHasAName) {
    EXPECT_STREQ(trefoil_status_string(TREFOIL_ERROR_ABORTED), "aborted by a rank");
}

}  // namespace
}  // namespace trefoil::test
