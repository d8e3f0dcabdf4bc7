// SPDX-License-Identifier: BSD-3-Clause
// Communicators that cannot be made: errors in words, on all ranks or on the one that is wrong, and
// the parent goes on.
#include <climits>

#include "derived_job.hpp"
#include "ok.hpp"

namespace trefoil::test::communicator_mistakes_test {
namespace {

/// The call has failed with this status, made nothing, and its message has these words.
void expect_refused(trefoil_status_t status, trefoil_comm_t made, trefoil_status_t expected,
                    const std::vector<std::string>& words) {
    EXPECT_EQ(status, expected) << trefoil_last_error(nullptr);
    EXPECT_EQ(made, nullptr);
    const std::string text = status == ok ? "" : trefoil_last_error(nullptr);
    for (const std::string& word : words) {
        EXPECT_NE(text.find(word), std::string::npos) << word << " is missing: " << text;
    }
}

trefoil_comm_t some_handle() {
    static int place = 0;
    return reinterpret_cast<trefoil_comm_t>(&place);
}

TEST(CommunicatorMistakes, WrongArgumentsChangeNothing) {
    run_on("3x3", [](int rank, trefoil_comm_t comm) {
        constexpr trefoil_status_t wrong = TREFOIL_ERROR_INVALID_ARGUMENT;
        const auto refused = [&](const std::vector<std::string>& words, auto&& call) {
            trefoil_comm_t made = some_handle();
            const trefoil_status_t status = call(&made);
            expect_refused(status, made, wrong, words);
        };
        const std::vector<int> twice{rank, 4, (rank + 1) % 9, 4}, outside{rank, 9},
            others{(rank + 1) % 9, (rank + 2) % 9}, none(9, 0);
        using Place = trefoil_comm_t*;
        refused({"communicator is NULL"}, [&](Place p) { return trefoil_comm_dup(nullptr, p); });
        refused({"communicator is NULL"},
                [&](Place p) { return trefoil_comm_split(nullptr, 0, 0, p); });
        EXPECT_EQ(trefoil_comm_dup(comm, nullptr), wrong);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("place"), std::string::npos);
        EXPECT_EQ(trefoil_comm_split(comm, 0, 0, nullptr), wrong);
        EXPECT_EQ(trefoil_comm_sub(comm, none.data(), nullptr), wrong);
        EXPECT_EQ(trefoil_comm_create_group(comm, others.data(), 2, 0, nullptr), wrong);
        refused({"colour", "-2", "TREFOIL_UNDEFINED"},
                [&](Place p) { return trefoil_comm_split(comm, -2, 0, p); });
        refused({"colour", "TREFOIL_UNDEFINED"},
                [&](Place p) { return trefoil_comm_split(comm, INT_MIN, 0, p); });
        refused({"NULL"}, [&](Place p) { return trefoil_comm_sub(comm, nullptr, p); });
        refused({"no dimension", "3x3"},
                [&](Place p) { return trefoil_comm_sub(comm, none.data(), p); });
        refused({"NULL"},
                [&](Place p) { return trefoil_comm_create_group(comm, nullptr, 2, 0, p); });
        refused({"one"},
                [&](Place p) { return trefoil_comm_create_group(comm, others.data(), 0, 0, p); });
        refused({"one"},
                [&](Place p) { return trefoil_comm_create_group(comm, others.data(), -1, 0, p); });
        refused({"twice", "4"},
                [&](Place p) { return trefoil_comm_create_group(comm, twice.data(), 4, 0, p); });
        refused({"rank 9", "0 to 8"},
                [&](Place p) { return trefoil_comm_create_group(comm, outside.data(), 2, 0, p); });
        refused({"rank " + std::to_string(rank), "not in the list"},
                [&](Place p) { return trefoil_comm_create_group(comm, others.data(), 2, 0, p); });
        // As if nothing had been.
        const Made dup = dup_of(comm), row = sub_of(comm, {0, 1});
        EXPECT_TRUE(sum_is_right(dup, 1) && sum_is_right(row, 2) && sum_is_right(comm, 3));
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

// The others wait for a rank that was refused; it calls again, rightly.
TEST(CommunicatorMistakes, OneRankMayCorrectItself) {
    run_on("3", [](int rank, trefoil_comm_t comm) {
        trefoil_comm_t made = nullptr;
        if (rank == 1) {
            EXPECT_EQ(trefoil_comm_split(comm, -5, 0, &made), TREFOIL_ERROR_INVALID_ARGUMENT);
            const int none = 0;
            EXPECT_EQ(trefoil_comm_sub(comm, &none, &made), TREFOIL_ERROR_INVALID_ARGUMENT);
        }
        const Made part = split_of(comm, 0, 0);
        EXPECT_EQ(size_of(part), 3);
        EXPECT_TRUE(sum_is_right(part, 1));
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

TEST(CommunicatorMistakes, RanksThatMakeDifferentOnesAreToldSo) {
    run_on("3x3", [](int rank, trefoil_comm_t comm) {
        const Made before = dup_of(comm);
        trefoil_comm_t made = some_handle();
        const trefoil_status_t status =
            rank == 4 ? trefoil_comm_split(comm, 0, 0, &made) : trefoil_comm_dup(comm, &made);
        expect_refused(status, made, TREFOIL_ERROR_MISMATCH,
                       {"trefoil_comm_dup", "trefoil_comm_split", "rank 4"});
        const std::vector<int> rows{0, 1}, columns{1, 0};
        made = some_handle();
        const trefoil_status_t other =
            trefoil_comm_sub(comm, rank == 7 ? rows.data() : columns.data(), &made);
        expect_refused(other, made, TREFOIL_ERROR_MISMATCH,
                       {"trefoil_comm_sub", "rank 7", "01", "10"});
        // Both go on.
        const Made after = dup_of(comm), row = sub_of(comm, rows);
        EXPECT_TRUE(sum_is_right(after, 1) && sum_is_right(row, 2) && sum_is_right(before, 3));
        EXPECT_TRUE(sum_is_right(comm, 4));
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

// A rank that comes too late is alone; then all have made the call, and agree again.
TEST(CommunicatorMistakes, ARankThatDoesNotComeIsNamed) {
    run_on(
        "2x2",
        [](int rank, trefoil_comm_t comm) {
            trefoil_comm_t made = some_handle();
            if (rank != 2) {
                const trefoil_status_t status = trefoil_comm_dup(comm, &made);
                EXPECT_EQ(status, TREFOIL_ERROR_TIMEOUT) << trefoil_last_error(nullptr);
                EXPECT_EQ(made, nullptr);
            }
            if (rank == 0) {
                EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("rank 2"),
                          std::string::npos)
                    << trefoil_last_error(nullptr);
            }
            EXPECT_EQ(reason_of_failure(comm), "");
            EXPECT_TRUE(sum_is_right(comm, 1));
            EXPECT_EQ(trefoil_barrier(comm), ok);
            if (rank == 2) {
                EXPECT_EQ(trefoil_comm_dup(comm, &made), TREFOIL_ERROR_TIMEOUT);
            } else {
                std::this_thread::sleep_for(std::chrono::milliseconds(900));
            }
            const Made later = split_of(comm, 0, 0);
            EXPECT_TRUE(sum_is_right(later, 2));
            EXPECT_EQ(trefoil_barrier(comm), ok);
        },
        -1, 1);
}

// The words of the others wait for rank 0, which makes one alone when it comes. Those that are made
// later have the same numbers on all ranks.
TEST(CommunicatorMistakes, OneThatOnlyALateRankHasDoesNotShiftTheNext) {
    run_on(
        "2x2",
        [](int rank, trefoil_comm_t comm) {
            if (rank == 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1500));
            }
            trefoil_comm_t late = nullptr;
            const trefoil_status_t status = trefoil_comm_dup(comm, &late);
            EXPECT_EQ(status, rank == 0 ? ok : TREFOIL_ERROR_TIMEOUT)
                << trefoil_last_error(nullptr);
            if (rank != 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds(800));
            }
            const Made dup = dup_of(comm), row = sub_of(comm, {0, 1}), half = split_of(comm, 0, 0);
            EXPECT_TRUE(sum_is_right(dup, 1) && sum_is_right(row, 2) && sum_is_right(half, 3));
            EXPECT_TRUE(sum_is_right(comm, 4));
            if (rank == 0) {
                // Nobody else has it.
                EXPECT_EQ(trefoil_barrier(late), TREFOIL_ERROR_TIMEOUT);
                EXPECT_NE(std::string(trefoil_last_error(late)).find("rank"), std::string::npos)
                    << trefoil_last_error(late);
            } else {
                std::this_thread::sleep_for(std::chrono::milliseconds(1500));
            }
            EXPECT_EQ(trefoil_comm_destroy(late), ok);
            EXPECT_EQ(trefoil_barrier(comm), ok) << trefoil_last_error(comm);
        },
        -1, 1);
}

TEST(CommunicatorMistakes, OneThatWasDestroyedIsKnown) {
    run_on("3", [](int, trefoil_comm_t comm) {
        trefoil_comm_t dup = nullptr, made = some_handle();
        ASSERT_EQ(trefoil_comm_dup(comm, &dup), ok) << trefoil_last_error(nullptr);
        EXPECT_TRUE(sum_is_right(dup, 1));
        ASSERT_EQ(trefoil_comm_destroy(dup), ok);
        constexpr trefoil_status_t wrong = TREFOIL_ERROR_INVALID_ARGUMENT;
        const trefoil_status_t status = trefoil_comm_dup(dup, &made);
        expect_refused(status, made, wrong, {"destroyed"});
        int number = 0, calls = 0;
        EXPECT_EQ(trefoil_comm_rank(dup, &number), wrong);
        EXPECT_EQ(trefoil_comm_size(dup, &number), wrong);
        EXPECT_EQ(trefoil_comm_in_flight(dup, &calls), wrong);
        EXPECT_EQ(trefoil_barrier(dup), wrong);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("destroyed"), std::string::npos);
        EXPECT_STREQ(trefoil_last_error(dup), trefoil_last_error(nullptr));
        EXPECT_EQ(trefoil_comm_destroy(dup), wrong);
        EXPECT_TRUE(sum_is_right(comm, 2));
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

TEST(CommunicatorMistakes, ABusyOneIsNotDestroyedAndAnotherThreadIsRefused) {
    run_on("3", [](int rank, trefoil_comm_t comm) {
        trefoil_comm_t dup = nullptr;
        ASSERT_EQ(trefoil_comm_dup(comm, &dup), ok) << trefoil_last_error(nullptr);
        trefoil_request_t request = TREFOIL_REQUEST_NULL;
        if (rank == 0) {
            ASSERT_EQ(trefoil_ibarrier(dup, &request), ok);
            EXPECT_EQ(trefoil_comm_destroy(dup), TREFOIL_ERROR_BUSY);
            EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("in flight"),
                      std::string::npos);
        }
        EXPECT_EQ(trefoil_barrier(comm), ok);
        if (rank != 0) {
            ASSERT_EQ(trefoil_ibarrier(dup, &request), ok);
        }
        EXPECT_EQ(trefoil_wait(&request), ok) << trefoil_last_error(nullptr);
        EXPECT_EQ(trefoil_comm_destroy(dup), ok);
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

// Schedules know places; scans go by the order of the ranks.
TEST(CommunicatorMistakes, AScanInAnotherOrderThanTheTorussIsRefused) {
    run_on("2x2", [](int rank, trefoil_comm_t comm) {
        const Made turned = split_of(comm, 0, -rank), straight = split_of(comm, 0, rank);
        const int mine = 1;
        int sum = 0;
        EXPECT_EQ(trefoil_scan(&mine, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, turned),
                  TREFOIL_ERROR_UNSUPPORTED);
        const std::string text = trefoil_last_error(nullptr);
        EXPECT_NE(text.find("row by row, but here they lie in another order (2x2, of the 2x2"),
                  std::string::npos)
            << text;
        EXPECT_EQ(trefoil_scan(&mine, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, straight), ok);
        EXPECT_EQ(sum, rank + 1);
        EXPECT_TRUE(sum_is_right(turned, 1));
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

// A communicator that has failed makes no other one; its relatives go on.
TEST(CommunicatorMistakes, AFailedOneFailsAlone) {
    run_on(
        "3x3",
        [](int rank, trefoil_comm_t comm) {
            const Made broken = dup_of(comm), row = sub_of(comm, {0, 1});
            std::int32_t values[2] = {1, 1}, sums[2] = {};
            // Counts differ.
            EXPECT_EQ(trefoil_allreduce(values, sums, rank == 5 ? 2 : 1, TREFOIL_INT32, TREFOIL_SUM,
                                        broken),
                      TREFOIL_ERROR_MISMATCH)
                << trefoil_last_error(nullptr);
            EXPECT_STRNE(trefoil_last_error(broken), "");
            trefoil_comm_t made = some_handle();
            const trefoil_status_t status = trefoil_comm_dup(broken, &made);
            expect_refused(status, made, TREFOIL_ERROR_MISMATCH, {});
            EXPECT_EQ(reason_of_failure(row), "");
            EXPECT_EQ(reason_of_failure(comm), "");
            for (int call = 0; call < 20; ++call) {
                EXPECT_TRUE(sum_is_right(row, call) && sum_is_right(comm, call));
            }
            const Made later = dup_of(comm);
            EXPECT_EQ(try_all(later), "");
            EXPECT_EQ(trefoil_barrier(comm), ok);
        },
        -1, 5);
}

}  // namespace
}  // namespace trefoil::test::communicator_mistakes_test
