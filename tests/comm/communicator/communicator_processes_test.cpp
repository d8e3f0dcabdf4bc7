// SPDX-License-Identifier: BSD-3-Clause
// Communicators that are made from others, between processes over every transport; and a process
// that dies.
#include <gtest/gtest.h>
#include <signal.h>

#include <vector>

#include "process_job.hpp"
#include "tests/backend/registry/transports_to_test.hpp"

namespace trefoil::test {
namespace {

constexpr trefoil_status_t ok = TREFOIL_SUCCESS;

/// Sums of small and of large vectors are right: each rank brings `mine`, and all make `all`.
bool sums(trefoil_comm_t comm, int mine, int all) {
    for (const std::size_t count : {1U, 1000U, 100'000U}) {
        std::vector<int> data(count, mine);
        if (trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_INT32, TREFOIL_SUM,
                              comm) != ok ||
            data != std::vector<int>(count, all)) {
            return false;
        }
    }
    return true;
}

/// On 2x3; 0 when all is right.
int all_ways(int rank, trefoil_comm_t comm) {
    trefoil_comm_t dup = nullptr, row = nullptr, column = nullptr, half = nullptr, ends = nullptr;
    const int keep_row[] = {0, 1}, keep_column[] = {1, 0}, both[] = {5, 0};
    const int i = rank / 3, j = rank % 3;
    if (trefoil_comm_dup(comm, &dup) != ok || !sums(dup, rank, 15)) {
        return 1;
    }
    if (trefoil_comm_sub(comm, keep_row, &row) != ok || !sums(row, rank, 9 * i + 3)) {
        return 2;
    }
    if (trefoil_comm_sub(dup, keep_column, &column) != ok || !sums(column, rank, 2 * j + 3)) {
        return 3;
    }
    if (trefoil_comm_split(dup, rank % 2, -rank, &half) != ok ||
        !sums(half, rank, rank % 2 == 0 ? 6 : 9)) {
        return 4;
    }
    if ((rank == 0 || rank == 5) &&
        (trefoil_comm_create_group(comm, both, 2, 0, &ends) != ok || !sums(ends, rank, 5))) {
        return 5;
    }
    if (!sums(comm, rank, 15) || trefoil_barrier(comm) != ok) {
        return 6;
    }
    for (const trefoil_comm_t made : {dup, row, column, half, ends}) {
        if (trefoil_comm_destroy(made) != ok) {
            return 7;
        }
    }
    return 0;
}

class CommunicatorProcesses : public testing::TestWithParam<std::string> {};

TEST_P(CommunicatorProcesses, SumRight) {
    const Job job = start(6, "2x3", GetParam().c_str(), all_ways);
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + std::chrono::seconds(40);
    for (const pid_t pid : job.pids) {
        EXPECT_EQ(finish(pid, deadline), 0);
    }
}

/// Fails as a rank has died, which it names.
bool tells_of(trefoil_comm_t comm, const char* rank) {
    int one = 1, sum = 0;
    const trefoil_status_t status =
        trefoil_allreduce(&one, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm);
    const std::string text = trefoil_last_error(comm);
    const bool named = text.find(rank) != std::string::npos;
    if (!named) {
        fprintf(stderr, "%s does not name %s\n", text.c_str(), rank);
    }
    return (status == TREFOIL_ERROR_PEER_LOST || status == TREFOIL_ERROR_TIMEOUT) && named;
}

// On 2x2 rank 3 dies: it is rank 1 of the second row. The first row goes on.
TEST_P(CommunicatorProcesses, WhereADeadRankIsNotInTheyGoOn) {
    const Job job = start(4, "2x2", GetParam().c_str(), [](int rank, trefoil_comm_t comm) {
        trefoil_comm_t row = nullptr;
        const int keep[] = {0, 1};
        if (trefoil_comm_sub(comm, keep, &row) != ok || !sums(row, 1, 2) || !sums(comm, 1, 4)) {
            return 1;
        }
        if (rank == 3) {
            raise(SIGKILL);
        }
        if (rank == 2) {
            return tells_of(row, "rank 1") ? 0 : 2;
        }
        if (!tells_of(comm, "rank 3")) {
            return 3;
        }
        for (int call = 0; call < 100; ++call) {
            if (!sums(row, 1, 2)) {
                fprintf(stderr, "%s\n", trefoil_last_error(row));
                return 4;
            }
        }
        trefoil_comm_t again = nullptr;
        if (trefoil_comm_dup(row, &again) != ok || !sums(again, 1, 2) ||
            trefoil_barrier(again) != ok) {
            fprintf(stderr, "%s\n", trefoil_last_error(nullptr));
            return 5;
        }
        return 0;
    });
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + std::chrono::seconds(40);
    EXPECT_EQ(finish(job.pids[3], deadline), -SIGKILL);
    for (const int r : {0, 1, 2}) {
        EXPECT_EQ(finish(job.pids[static_cast<std::size_t>(r)], deadline), 0) << "rank " << r;
    }
}

INSTANTIATE_TEST_SUITE_P(Backends, CommunicatorProcesses, testing::ValuesIn(backends_to_test()));

}  // namespace
}  // namespace trefoil::test
