// SPDX-License-Identifier: BSD-3-Clause
// Allreduce straight from the ranks' vectors: the same bits as through landing slots, whatever the
// length, and for operations that do not commute.
#include <cstdint>
#include <cstdlib>

#include "affine.hpp"
#include "thread_job.hpp"

namespace trefoil::test::single_copy_test {
namespace {

struct Case {
    const char* torus;
    int ranks;
    int port_threads;
};

JobOptions job_of(const Case& c) {
    JobOptions options;
    options.torus = c.torus;
    options.port_threads = c.port_threads;
    return options;
}

/// Mixed magnitudes: another association gives other bits.
float value(int rank, std::size_t i) {
    const std::uint64_t hash = (i * 31 + static_cast<std::uint64_t>(rank) + 1) * 0x9e3779b97f4a7c15;
    const float scale[] = {1e-6F, 1.0F, 3e4F, 7e9F};
    return static_cast<float>(hash >> 44) * scale[hash >> 20 & 3];
}

std::vector<float> in_rank_order(int ranks, std::size_t count) {
    std::vector<float> sums(count);
    for (std::size_t i = 0; i < count; ++i) {
        sums[i] = value(0, i);
        for (int r = 1; r < ranks; ++r) {
            sums[i] += value(r, i);
        }
    }
    return sums;
}

class SingleCopy : public testing::TestWithParam<Case> {};

TEST_P(SingleCopy, SumsInRankOrder) {
    const Case& c = GetParam();
    const JobOptions options = job_of(c);
    run_ranks(c.ranks, options, [&](int rank, trefoil_comm_t comm) {
        const char* name = nullptr;
        EXPECT_EQ(trefoil_comm_algorithm(comm, "allreduce", 1 << 18, TREFOIL_FLOAT, &name),
                  TREFOIL_SUCCESS);
        EXPECT_STREQ(name, "single-copy");
        // For short vectors of many ranks it is not what auto takes.
        EXPECT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", name), TREFOIL_SUCCESS);
        for (const std::size_t count : {16'384U, 16'385U, 100'003U, 262'144U}) {
            const std::vector<float> expected = in_rank_order(c.ranks, count);
            for (int round = 0; round < 3; ++round) {
                std::vector<float> in(count), out(count + 1, -1.0F);
                for (std::size_t i = 0; i < count; ++i) {
                    in[i] = value(rank, i);
                }
                ASSERT_EQ(trefoil_allreduce(in.data(), out.data(), count, TREFOIL_FLOAT,
                                            TREFOIL_SUM, comm),
                          TREFOIL_SUCCESS)
                    << trefoil_last_error(comm);
                ASSERT_EQ(std::memcmp(out.data(), expected.data(), count * sizeof(float)), 0);
                ASSERT_EQ(out[count], -1.0F);
                ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, in.data(), count, TREFOIL_FLOAT,
                                            TREFOIL_SUM, comm),
                          TREFOIL_SUCCESS);
                ASSERT_EQ(std::memcmp(in.data(), expected.data(), count * sizeof(float)), 0);
            }
        }
    });
}

TEST_P(SingleCopy, KeepsTheOrderOfOperationsThatDoNotCommute) {
    const Case& c = GetParam();
    constexpr std::size_t count = 20'000;
    std::vector<std::vector<Affine>> results(2);
    // The same call with and without single copy.
    for (const int single_copy : {0, 1}) {
        setenv("TREFOIL_SINGLE_COPY", single_copy == 1 ? "1" : "0", 1);
        run_ranks(c.ranks, job_of(c), [&](int rank, trefoil_comm_t comm) {
            trefoil_op_t op{};
            ASSERT_EQ(trefoil_op_create(compose, nullptr, sizeof(Affine), 0, &op), TREFOIL_SUCCESS);
            std::vector<Affine> data(count);
            for (std::size_t i = 0; i < count; ++i) {
                const auto n = static_cast<std::uint32_t>(rank);
                data[i] = {2 * n + 3, static_cast<std::uint32_t>(i) + 7 * n};
            }
            ASSERT_EQ(
                trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_ELEMENT, op, comm),
                TREFOIL_SUCCESS)
                << trefoil_last_error(comm);
            if (rank == c.ranks - 1) {
                results[single_copy] = data;
            }
            trefoil_op_free(op);
        });
        unsetenv("TREFOIL_SINGLE_COPY");
    }
    ASSERT_EQ(results[0].size(), count);
    ASSERT_EQ(results[1].size(), count);
    EXPECT_EQ(std::memcmp(results[0].data(), results[1].data(), count * sizeof(Affine)), 0);
}

INSTANTIATE_TEST_SUITE_P(Tori, SingleCopy,
                         testing::Values(Case{"2", 2, 0}, Case{"3x3", 9, 0}, Case{"2x3", 6, 4},
                                         Case{"5", 5, 2}));

// Several segments; and every second rank hands in its result's memory.
TEST(SingleCopySegments, AreRightWhereSomeRanksWorkInPlace) {
    run_ranks(3, job_of({"3", 3, 0}), [](int rank, trefoil_comm_t comm) {
        constexpr std::size_t count = 700'001;
        const std::vector<float> expected = in_rank_order(3, count);
        for (int round = 0; round < 3; ++round) {
            std::vector<float> in(count), out(count);
            for (std::size_t i = 0; i < count; ++i) {
                in[i] = value(rank, i);
            }
            const bool in_place = (rank + round) % 2 == 0;
            float* const result = in_place ? in.data() : out.data();
            ASSERT_EQ(trefoil_allreduce(in_place ? TREFOIL_IN_PLACE : in.data(), result, count,
                                        TREFOIL_FLOAT, TREFOIL_SUM, comm),
                      TREFOIL_SUCCESS)
                << trefoil_last_error(comm);
            ASSERT_EQ(std::memcmp(result, expected.data(), count * sizeof(float)), 0);
        }
    });
}

TEST(SingleCopySetting, ForcedItIsTakenForShortVectorsToo) {
    JobOptions options = job_of({"5", 5, 2});
    options.algorithm = "single-copy";
    run_ranks(5, options, [](int rank, trefoil_comm_t comm) {
        for (const std::size_t count : {1U, 3U, 100U, 5000U}) {
            const std::vector<float> expected = in_rank_order(5, count);
            std::vector<float> data(count);
            for (std::size_t i = 0; i < count; ++i) {
                data[i] = value(rank, i);
            }
            ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_FLOAT,
                                        TREFOIL_SUM, comm),
                      TREFOIL_SUCCESS)
                << trefoil_last_error(comm);
            ASSERT_EQ(std::memcmp(data.data(), expected.data(), count * sizeof(float)), 0);
        }
    });
}

// One guard names one call, so short vectors wait for long ones.
TEST(SingleCopySetting, ForcedItServesShortAndLongVectorsInFlight) {
    JobOptions options = job_of({"3x3", 9, -1});
    options.algorithm = "single-copy";
    run_ranks(9, options, [](int, trefoil_comm_t comm) {
        const std::vector<std::int32_t> in(50'000, 1);
        std::vector<std::int32_t> large(in.size());
        for (int round = 0; round < 20; ++round) {
            trefoil_request_t requests[2] = {TREFOIL_REQUEST_NULL, TREFOIL_REQUEST_NULL};
            std::int32_t small = 0;
            ASSERT_EQ(trefoil_iallreduce(in.data(), large.data(), in.size(), TREFOIL_INT32,
                                         TREFOIL_SUM, comm, &requests[0]),
                      TREFOIL_SUCCESS);
            ASSERT_EQ(trefoil_iallreduce(in.data(), &small, 1, TREFOIL_INT32, TREFOIL_SUM, comm,
                                         &requests[1]),
                      TREFOIL_SUCCESS);
            ASSERT_EQ(trefoil_waitall(2, requests), TREFOIL_SUCCESS) << trefoil_last_error(comm);
            EXPECT_EQ(small, 9);
            EXPECT_EQ(large, std::vector<std::int32_t>(in.size(), 9));
        }
    });
}

TEST(SingleCopySetting, ForcedItIsRefusedInWordsWhereItIsTurnedOff) {
    setenv("TREFOIL_SINGLE_COPY", "0", 1);
    JobOptions options = job_of({"2", 2, 0});
    options.algorithm = "single-copy";
    run_ranks(2, options, [](int, trefoil_comm_t comm) {
        float x = 1;
        EXPECT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, &x, 1, TREFOIL_FLOAT, TREFOIL_SUM, comm),
                  TREFOIL_ERROR_UNSUPPORTED);
        EXPECT_STREQ(trefoil_last_error(nullptr),
                     "single-copy reads the memory of other ranks, which TREFOIL_SINGLE_COPY=0 "
                     "rules out; use auto or another algorithm");
    });
    unsetenv("TREFOIL_SINGLE_COPY");
}

TEST(SingleCopySetting, ZeroGoesThroughLandingSlots) {
    setenv("TREFOIL_SINGLE_COPY", "0", 1);
    run_ranks(2, job_of({"2", 2, 0}), [](int, trefoil_comm_t comm) {
        const char* name = nullptr;
        EXPECT_EQ(trefoil_comm_algorithm(comm, "allreduce", 1 << 18, TREFOIL_FLOAT, &name),
                  TREFOIL_SUCCESS);
        EXPECT_STRNE(name, "single-copy");
    });
    unsetenv("TREFOIL_SINGLE_COPY");
}

}  // namespace
}  // namespace trefoil::test::single_copy_test
