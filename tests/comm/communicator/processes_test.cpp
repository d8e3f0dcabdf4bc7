// SPDX-License-Identifier: BSD-3-Clause
// Ranks as processes that meet in a store: results across processes, and a rank that is killed.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "process_job.hpp"
#include "tests/backend/registry/transports_to_test.hpp"
#include "tests/denied_calls.hpp"
#include "trefoil/trefoil.h"

namespace trefoil::test::processes_test {
namespace {

/// Lets the ranks meet; each must end with 0.
void expect_success(const Job& job) {
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + std::chrono::seconds(40);
    for (const pid_t pid : job.pids) {
        EXPECT_EQ(finish(pid, deadline), 0);
    }
}

/// Sums over many sizes; 0 when all are right.
int sums(int rank, trefoil_comm_t comm) {
    for (const std::size_t count : {1U, 100U, 10'000U, 300'000U}) {
        std::vector<float> data(count, static_cast<float>(rank + 1));
        if (trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_FLOAT, TREFOIL_SUM,
                              comm) != TREFOIL_SUCCESS) {
            return 1;
        }
        for (const float x : data) {
            if (x != 21.0F) {
                return 2;
            }
        }
    }
    return trefoil_barrier(comm) == TREFOIL_SUCCESS ? 0 : 3;
}

std::string chosen_for_large_vectors(trefoil_comm_t comm) {
    const char* name = "";
    trefoil_comm_algorithm(comm, "allreduce", 300'000, TREFOIL_FLOAT, &name);
    return name;
}

class Processes : public testing::TestWithParam<std::string> {};

TEST_P(Processes, SumRight) {
    const Job job = start(6, "2x3", GetParam().c_str(), sums);
    expect_success(job);
}

TEST_P(Processes, SumRightOnNodesOfTwo) {
    const Job job = start(6, "3x2h", GetParam().c_str(), sums);
    expect_success(job);
}

TEST(ProcessMemory, IsUsedWhereAllRanksMay) {
    const auto body = [](int rank, trefoil_comm_t comm) {
        if (const int result = sums(rank, comm); result != 0) {  // by auto, whatever that takes
            return result;
        }
        if (trefoil_comm_set_algorithm(comm, "allreduce", "single-copy") != TREFOIL_SUCCESS ||
            chosen_for_large_vectors(comm) != "single-copy") {
            return 4;
        }
        return sums(rank, comm);
    };
    const Job job = start(6, "2x3", "memory", body);
    expect_success(job);
}

TEST(ProcessMemory, IsLeftAloneWhereOneRankMayNot) {
    const auto body = [](int rank, trefoil_comm_t comm) {
        const int result = sums(rank, comm);
        return result == 0 && chosen_for_large_vectors(comm) == "single-copy" ? 4 : result;
    };
    const Job job = start(6, "2x3", "memory", body, {},
                          [](int rank) { return rank != 4 || forbid_access_to_other_processes(); });
    expect_success(job);
}

TEST_P(Processes, AKilledRankIsReportedByAllOthers) {
    const Job job = start(4, "2x2", GetParam().c_str(), [](int rank, trefoil_comm_t comm) {
        double x = 1;
        for (int i = 0; i < 1'000'000; ++i) {
            if (rank == 2 && i == 50) {
                raise(SIGKILL);
            }
            const auto status =
                trefoil_allreduce(TREFOIL_IN_PLACE, &x, 1, TREFOIL_DOUBLE, TREFOIL_MAX, comm);
            if (status != TREFOIL_SUCCESS) {
                return std::string(trefoil_last_error(comm)).find("rank ") != std::string::npos
                           ? status
                           : 50;
            }
        }
        return 0;
    });
    const StoreServer store;
    job.meet_at(store.port());
    // The child is reaped before its peers look for it, as a launcher would.
    const auto deadline = Clock::now() + std::chrono::seconds(30);
    EXPECT_EQ(finish(job.pids[2], deadline), -SIGKILL);
    for (const int r : {0, 1, 3}) {
        const int code = finish(job.pids[r], deadline);
        EXPECT_TRUE(code == TREFOIL_ERROR_PEER_LOST || code == TREFOIL_ERROR_TIMEOUT)
            << "rank " << r << " ended with " << code;
    }
}

/// Goes on in a process namespace of its own, as a container has one, but sees the /proc of all.
bool enter_container() {
    if (unshare(CLONE_NEWPID) != 0) {
        return false;
    }
    const pid_t child = fork();
    if (child != 0) {
        int status = 0;
        _exit(waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 92);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return true;
}

bool may_enter_containers() {
    const pid_t child = fork();
    if (child == 0) {
        _exit(enter_container() ? 0 : 1);
    }
    int status = 1;
    return waitpid(child, &status, 0) == child && status == 0;
}

/// Not over memory, and right.
int sums_over_network(int rank, trefoil_comm_t comm) {
    const char* backend = "";
    const char* provider = "";
    std::int32_t sum = rank + 1;
    if (trefoil_comm_transport(comm, &backend, &provider) != TREFOIL_SUCCESS ||
        std::string(backend) == "memory") {
        return 1;
    }
    return trefoil_allreduce(TREFOIL_IN_PLACE, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm) ==
                       TREFOIL_SUCCESS &&
                   sum == 6
               ? 0
               : 2;
}

bool has_network() {
    const auto backends = backends_to_test();
    return std::ranges::find(backends, "ofi") != backends.end();
}

TEST(SharedMemory, ThatContainersOfAHostLackIsNotTaken) {
    if (!may_enter_containers() || !has_network()) {
        GTEST_SKIP() << "needs root, and backend ofi";
    }
    expect_success(start(3, "", "", sums_over_network, {}, [](int) { return enter_container(); }));
}

TEST(SharedMemory, ThatOneRankIsRefusedIsNotTaken) {
    if (!has_network()) {
        GTEST_SKIP() << "needs backend ofi";
    }
    expect_success(start(3, "", "", sums_over_network, {}, [](int rank) {
        const rlimit small{100, 100};
        return rank != 1 || setrlimit(RLIMIT_FSIZE, &small) == 0;
    }));
}

TEST(SharedMemory, ThatWasAskedForIsMissedByAllRanksAlike) {
    if (!may_enter_containers()) {
        GTEST_SKIP() << "needs root";
    }
    expect_success(start(3, "", "memory", {}, {}, [](int) {
        trefoil_comm_t comm = nullptr;
        const bool refused =
            enter_container() && trefoil_comm_create(nullptr, &comm) == TREFOIL_ERROR_UNSUPPORTED;
        const std::string text = trefoil_last_error(nullptr);
        const bool named = text.find("rank 0 cannot map memory of rank 1") != std::string::npos &&
                           text.find("in another container") != std::string::npos;
        if (!named) {
            std::fprintf(stderr, "%s\n", text.c_str());
        }
        _exit(refused && named ? 0 : 1);
        return false;
    }));
}

INSTANTIATE_TEST_SUITE_P(Backends, Processes, testing::ValuesIn(backends_to_test()));

}  // namespace
}  // namespace trefoil::test::processes_test
