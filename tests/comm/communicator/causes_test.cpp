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

trefoil_cause_t cause_of(trefoil_comm_t comm) {
    trefoil_cause_t cause{};
    cause.size = sizeof cause;
    EXPECT_EQ(trefoil_last_cause(comm, &cause), TREFOIL_SUCCESS);
    return cause;
}

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
        const trefoil_cause_t cause = cause_of(comm);
        EXPECT_EQ(cause.status, TREFOIL_ERROR_TIMEOUT);
        EXPECT_EQ(cause.culprit, 4);
        EXPECT_EQ(cause.evidence, TREFOIL_EVIDENCE_SILENT);
        EXPECT_NE(cause.finder, 4);
        EXPECT_GE(cause.finder, 0);
        EXPECT_EQ(cause.before, 0);
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const double ago = std::chrono::duration<double>(now).count() - cause.since;
        EXPECT_GE(ago, patience / 2) << "nothing has moved since then";
        EXPECT_LT(ago, 600);
    });
}

INSTANTIATE_TEST_SUITE_P(Algorithms, CausesBy, testing::Values("trivance-l", "ring"));

TEST(Causes, AnAbortIsTheAborters) {
    JobOptions options;
    options.torus = "3";
    run_ranks(3, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        EXPECT_EQ(cause_of(comm).culprit, -1);
        if (rank == 1) {
            EXPECT_EQ(trefoil_comm_abort(comm, "enough"), TREFOIL_SUCCESS);
        }
        while (trefoil_barrier(comm) == TREFOIL_SUCCESS) {
        }
        const trefoil_cause_t cause = cause_of(comm);
        EXPECT_EQ(cause.status, TREFOIL_ERROR_ABORTED);
        EXPECT_EQ(cause.culprit, 1);
        EXPECT_EQ(cause.evidence, TREFOIL_EVIDENCE_ABORTED);
        EXPECT_EQ(cause.finder, 1);
        EXPECT_GT(cause.since, 1.7e9);
        EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_ABORTED);
        EXPECT_EQ(cause_of(nullptr).before, 1);
        EXPECT_EQ(cause_of(nullptr).culprit, 1);
    });
}

TEST(Causes, ADisagreementIsTheOtherRanks) {
    JobOptions options;
    options.torus = "2";
    run_ranks(2, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        std::vector<std::int32_t> data(8, rank);
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        const trefoil_status_t status =
            rank == 0 ? trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), data.size(), TREFOIL_INT32,
                                          TREFOIL_SUM, comm)
                      : trefoil_alltoall(TREFOIL_IN_PLACE, data.data(), data.size() / 2,
                                         TREFOIL_INT32, comm);
        EXPECT_EQ(status, TREFOIL_ERROR_MISMATCH) << trefoil_last_error(comm);
        const trefoil_cause_t cause = cause_of(nullptr);
        EXPECT_EQ(cause.status, TREFOIL_ERROR_MISMATCH);
        EXPECT_EQ(cause.evidence, TREFOIL_EVIDENCE_DISAGREES);
        EXPECT_EQ(cause.culprit, 1 - cause.finder) << trefoil_last_error(comm);
    });
}

// The others hear of each other through rank 0 alone.
TEST(Causes, ARankThatMakesNoCommunicatorIsNamed) {
    JobOptions options;
    options.torus = "3";
    options.timeout_seconds = 2;
    run_ranks(3, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        if (rank == 0) {
            return;
        }
        trefoil_comm_t made = nullptr;
        EXPECT_EQ(trefoil_comm_split(comm, 0, rank, &made), TREFOIL_ERROR_TIMEOUT);
        const trefoil_cause_t cause = cause_of(nullptr);
        EXPECT_EQ(cause.culprit, 0) << trefoil_last_error(nullptr);
        EXPECT_EQ(cause.evidence, TREFOIL_EVIDENCE_SILENT);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("from rank 0 "), std::string::npos)
            << trefoil_last_error(nullptr);
    });
}

TEST(Causes, APlaceWithoutASizeIsRefused) {
    trefoil_cause_t cause{};
    EXPECT_EQ(trefoil_last_cause(nullptr, &cause), TREFOIL_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(trefoil_last_cause(nullptr, nullptr), TREFOIL_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cause_of(nullptr).status, TREFOIL_ERROR_INVALID_ARGUMENT);
}

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
