// SPDX-License-Identifier: BSD-3-Clause
// Ranks whose calls differ, and the two switches for doubts: TREFOIL_CHECK and TREFOIL_CHECKSUM.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/backend/registry/transports_to_test.hpp"
#include "thread_job.hpp"

namespace trefoil::test::disagreement_test {
namespace {

bool mentions(const std::string& text, const std::string& word) {
    return text.find(word) != std::string::npos;
}

TEST(Disagreement, ADifferentCountInTheFirstCallIsReportedByAllRanks) {
    JobOptions options;
    options.torus = "2x2";
    run_ranks(4, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        std::vector<float> data(2000);
        const size_t count = rank == 2 ? 1001 : 1000;
        EXPECT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_FLOAT,
                                    TREFOIL_SUM, comm),
                  TREFOIL_ERROR_MISMATCH);
        const std::string text = trefoil_last_error(comm);
        EXPECT_TRUE(mentions(text, "rank 2")) << text;
        EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_MISMATCH)
            << "a failed communicator stays so";
    });
}

TEST(Disagreement, ADifferentCountInALaterCallIsReportedByAllRanks) {
    JobOptions options;
    options.torus = "2x2";
    options.algorithm = "swing-b";
    run_ranks(4, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        std::vector<float> data(20000);
        const auto allreduce = [&](size_t count) {
            return trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_FLOAT,
                                     TREFOIL_SUM, comm);
        };
        ASSERT_EQ(allreduce(1000), TREFOIL_SUCCESS);
        EXPECT_NE(allreduce(rank == 2 ? 1001 : 1000), TREFOIL_SUCCESS);
        EXPECT_TRUE(mentions(trefoil_last_error(comm), "call")) << trefoil_last_error(comm);
    });
}

// In a landing slot data of an earlier call lie where a later one has its flags
// (threads/executor/stored_calls.hpp): these are the flags of all uses to come, as they would be
// without a key.
TEST(Disagreement, NobodyMakesItByDataThatLookLikeFlags) {
    constexpr std::size_t slots = 16, elements = 2048;
    JobOptions options;
    options.torus = "3";
    run_ranks(3, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        std::vector<std::uint64_t> chosen(elements);
        std::vector<double> sums(elements);
        for (std::uint64_t use = 0; use < 2 * slots; ++use) {
            const bool is_chosen = use < slots;
            if (is_chosen) {
                const std::uint64_t flag = (use + slots + (1ULL << 32) + 1) * 0xd1342543de82ef95ULL;
                std::fill(chosen.begin(), chosen.end(), rank == 0 ? flag : 0);
            }
            std::fill(sums.begin(), sums.end(), 1.0);
            ASSERT_EQ(is_chosen ? trefoil_bcast(chosen.data(), elements, TREFOIL_UINT64, 0, comm)
                                : trefoil_allreduce(TREFOIL_IN_PLACE, sums.data(), elements,
                                                    TREFOIL_DOUBLE, TREFOIL_SUM, comm),
                      TREFOIL_SUCCESS)
                << use << ": " << trefoil_last_error(comm);
            EXPECT_EQ(sums, std::vector<double>(elements, is_chosen ? 1 : 3));
        }
    });
}

TEST(Disagreement, AnEmptyCallOfOneRankIsNotPassedOver) {
    JobOptions options;
    options.torus = "3";
    options.timeout_seconds = 5;
    run_ranks(3, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        trefoil_status_t status = TREFOIL_SUCCESS;
        int call = 0;
        for (; call < 100 && status == TREFOIL_SUCCESS; ++call) {
            std::int32_t x = call;
            const size_t count = rank == 1 && call == 5 ? 0 : 1;
            status =
                trefoil_allreduce(TREFOIL_IN_PLACE, &x, count, TREFOIL_INT32, TREFOIL_SUM, comm);
            if (status == TREFOIL_SUCCESS && count == 1) {
                ASSERT_EQ(x, 3 * call) << "in call " << call;
            }
        }
        EXPECT_NE(status, TREFOIL_SUCCESS);
        EXPECT_LE(call, 7) << trefoil_last_error(comm);
    });
}

TEST(Disagreement, EmptyCallsOfAllRanksCountAlike) {
    JobOptions options;
    options.torus = "2x2";
    run_ranks(4, options, [](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        for (int call = 0; call < 20; ++call) {
            std::int32_t x = call;
            ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, &x, call % 3 == 0 ? 0 : 1, TREFOIL_INT32,
                                        TREFOIL_SUM, comm),
                      TREFOIL_SUCCESS)
                << trefoil_last_error(comm);
            ASSERT_EQ(x, call % 3 == 0 ? call : 4 * call);
        }
    });
}

// Six bits of a hash let one in 64 pass.
TEST(Disagreement, OneMessageIsEnoughToTellCallsApart) {
    JobOptions options;
    options.torus = "2";
    for (int i = 1; i <= 150; ++i) {
        run_ranks(2, options, [i](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr);
            std::vector<std::int32_t> data(200);
            ASSERT_EQ(trefoil_bcast(data.data(), 1, TREFOIL_INT32, 0, comm), TREFOIL_SUCCESS);
            const trefoil_status_t status =
                trefoil_bcast(data.data(), static_cast<std::size_t>(i),
                              rank == 0 ? TREFOIL_FLOAT : TREFOIL_INT32, 0, comm);
            if (rank == 1) {  // the root does not wait for anything
                EXPECT_EQ(status, TREFOIL_ERROR_MISMATCH) << "of " << i << " elements";
            }
        });
    }
}

class CheckedCalls : public testing::Test {
  protected:
    CheckedCalls() { setenv("TREFOIL_CHECK", "1", 1); }
    ~CheckedCalls() override { unsetenv("TREFOIL_CHECK"); }
};

TEST_F(CheckedCalls, TellWhichRankMakesWhichCallAndTheCommunicatorGoesOn) {
    JobOptions options;
    options.torus = "2x2";
    run_ranks(4, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        std::vector<std::int32_t> in(8, 1), out(32);
        const auto sum = [&](size_t count, trefoil_datatype_t type, trefoil_op_t op) {
            return trefoil_allreduce(in.data(), out.data(), count, type, op, comm);
        };
        const auto expect_told = [&](trefoil_status_t status, const std::string& part) {
            EXPECT_EQ(status, TREFOIL_ERROR_MISMATCH);
            const std::string text = trefoil_last_error(nullptr);
            EXPECT_TRUE(mentions(text, part) && mentions(text, "ranks 0, 1, 3")) << text;
        };
        for (int round = 0; round < 3; ++round) {
            const bool odd = rank == 2;
            expect_told(sum(odd ? 7 : 8, TREFOIL_INT32, TREFOIL_SUM),
                        "rank 2: allreduce of 7 int32");
            expect_told(sum(8, odd ? TREFOIL_FLOAT : TREFOIL_INT32, TREFOIL_SUM), "rank 2: ");
            expect_told(sum(8, TREFOIL_INT32, odd ? TREFOIL_MAX : TREFOIL_SUM), "(max)");
            expect_told(sum(odd ? 0 : 8, TREFOIL_INT32, TREFOIL_SUM), "allreduce of 0 int32");
            expect_told(odd ? trefoil_allreduce(TREFOIL_IN_PLACE, out.data(), 8, TREFOIL_INT32,
                                                TREFOIL_SUM, comm)
                            : sum(8, TREFOIL_INT32, TREFOIL_SUM),
                        "in place");
            expect_told(odd ? trefoil_barrier(comm) : sum(8, TREFOIL_INT32, TREFOIL_SUM),
                        "rank 2: barrier");
            expect_told(trefoil_bcast(out.data(), 3, TREFOIL_INT32, odd ? 1 : 0, comm),
                        "from root 1");
            if (odd) {
                ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", "ring"), TREFOIL_SUCCESS);
            }
            expect_told(sum(8, TREFOIL_INT32, TREFOIL_SUM), "by ring");
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", "auto"), TREFOIL_SUCCESS);
            ASSERT_EQ(sum(8, TREFOIL_INT32, TREFOIL_SUM), TREFOIL_SUCCESS)
                << trefoil_last_error(comm);
            EXPECT_EQ(out[7], 4);
        }
    });
}

TEST_F(CheckedCalls, CompareTheCountsOfPairs) {
    JobOptions options;
    options.torus = "3";
    run_ranks(3, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        std::vector<std::int32_t> in(30, rank), out(30, -1);
        const size_t places[] = {0, 10, 20};
        const auto alltoallv = [&](size_t of_two_to_one) {
            size_t sent[] = {2, 2, 2}, expected[] = {2, 2, 2};
            sent[1] = rank == 2 ? of_two_to_one : 2;
            return trefoil_alltoallv(in.data(), sent, places, out.data(), expected, places,
                                     TREFOIL_INT32, comm);
        };
        EXPECT_EQ(alltoallv(5), TREFOIL_ERROR_MISMATCH);
        EXPECT_TRUE(mentions(trefoil_last_error(nullptr),
                             "rank 1 expects 2 elements of rank 2, which sends 5"))
            << trefoil_last_error(nullptr);
        ASSERT_EQ(alltoallv(2), TREFOIL_SUCCESS) << trefoil_last_error(comm);
        EXPECT_EQ(out[21], 2);
    });
}

TEST(Checksums, AllCollectivesAreRight) {
    setenv("TREFOIL_CHECKSUM", "1", 1);
#if defined(__SANITIZE_THREAD__)
    constexpr bool network_too = false;  // it does not see how these libraries synchronise
#else
    constexpr bool network_too = true;
#endif
    for (const std::string backend : {"memory", "ofi", "ucx"}) {
        if (!is_built(backend) || (!network_too && backend != "memory")) {
            continue;
        }
        JobOptions options;
        options.torus = "3";
        options.backend = backend;
        run_ranks(3, options, [](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            std::vector<std::int32_t> data(300000);
            for (const size_t count : {1UL, 1000UL, 300000UL}) {
                std::fill(data.begin(), data.end(), rank + 1);
                ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_INT32,
                                            TREFOIL_SUM, comm),
                          TREFOIL_SUCCESS)
                    << trefoil_last_error(comm);
                EXPECT_EQ(data[count - 1], 6);
                ASSERT_EQ(trefoil_bcast(data.data(), count, TREFOIL_INT32, 1, comm),
                          TREFOIL_SUCCESS)
                    << trefoil_last_error(comm);
            }
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", "single-copy"),
                      TREFOIL_SUCCESS);
            EXPECT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), 300000, TREFOIL_INT32,
                                        TREFOIL_SUM, comm),
                      TREFOIL_ERROR_UNSUPPORTED);
            EXPECT_TRUE(mentions(trefoil_last_error(nullptr), "TREFOIL_CHECKSUM=1"))
                << trefoil_last_error(nullptr);
        });
    }
    unsetenv("TREFOIL_CHECKSUM");
}

// Messages of a channel begin at multiples of 64 bytes in its landing slot, whatever their lengths.
TEST(Checksums, SeveralMessagesOfOddLengths) {
    setenv("TREFOIL_CHECKSUM", "1", 1);
    JobOptions options;
    options.torus = "5";
    run_ranks(5, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        for (const char* algorithm : {"ring", "bucket", "sparbit", "direct"}) {
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allgather", algorithm), TREFOIL_SUCCESS);
            for (const size_t bytes : {1UL, 63UL, 3001UL}) {
                const std::vector<std::uint8_t> mine(bytes, static_cast<std::uint8_t>(rank + 1));
                std::vector<std::uint8_t> all(5 * bytes);
                ASSERT_EQ(trefoil_allgather(mine.data(), all.data(), bytes, TREFOIL_UINT8, comm),
                          TREFOIL_SUCCESS)
                    << algorithm << ", " << bytes << " bytes: " << trefoil_last_error(comm);
                for (std::size_t i = 0; i < all.size(); ++i) {
                    ASSERT_EQ(all[i], i / bytes + 1);
                }
            }
        }
    });
    unsetenv("TREFOIL_CHECKSUM");
}

}  // namespace
}  // namespace trefoil::test::disagreement_test
