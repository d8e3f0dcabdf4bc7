// SPDX-License-Identifier: BSD-3-Clause
// OpenMP threads as ports: right results, no thread added, and clear refusals. This program is
// linked with an OpenMP runtime, as its users' are.
#include <omp.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "thread_job.hpp"
#include "threads/workers/port_threads.hpp"
#include "topo/error.hpp"

namespace trefoil::test {
namespace {

int threads_of_this_process() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

/// A parallel region as a program has them: afterwards its threads exist and are idle.
int use_openmp(int threads) {
    std::atomic<int> seen{0};
#pragma omp parallel num_threads(threads)
    ++seen;
    return seen;
}

class OpenMp : public testing::Test {
  protected:
    void SetUp() override { setenv("TREFOIL_PORT_THREADS_BY", "openmp", 1); }
    void TearDown() override { unsetenv("TREFOIL_PORT_THREADS_BY"); }
};

void expect_sum(trefoil_comm_t comm, int rank, int ranks, std::size_t count) {
    std::vector<int> data(count);
    std::iota(data.begin(), data.end(), rank);
    ASSERT_EQ(
        trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_INT32, TREFOIL_SUM, comm),
        TREFOIL_SUCCESS)
        << trefoil_last_error(comm);
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(data[i], ranks * static_cast<int>(i) + ranks * (ranks - 1) / 2) << i;
    }
}

TEST_F(OpenMp, ResultsAreRightAndNoThreadIsAdded) {
    constexpr int ranks = 4;
    constexpr int ports = 4;
    JobOptions options;
    options.torus = "2x2";
    options.port_threads = ports;
    std::barrier all(ranks);
    int before = 0;
    int after = 0;
    run_ranks(
        ranks, options,
        [&](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            for (const std::size_t count : {1, 77, 100'000}) {
                expect_sum(comm, rank, ranks, count);
                EXPECT_EQ(use_openmp(ports), ports) << "the program's own regions go on";
            }
            all.arrive_and_wait();
            if (rank == 0) {
                after = threads_of_this_process();
            }
            all.arrive_and_wait();
        },
        [&](int rank, trefoil_config_t&) {
            EXPECT_EQ(use_openmp(ports), ports);
            all.arrive_and_wait();
            if (rank == 0) {
                before = threads_of_this_process();
            }
            all.arrive_and_wait();
        });
    EXPECT_GE(before, ranks * ports);
    EXPECT_EQ(after, before);
}

TEST_F(OpenMp, ACallInsideAParallelRegionIsRefusedAndChangesNothing) {
    JobOptions options;
    options.torus = "2";
    options.port_threads = 2;
    run_ranks(2, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        expect_sum(comm, rank, 2, 100);
#pragma omp parallel num_threads(2)
        {
#pragma omp master
            {
                int x = 7;
                EXPECT_EQ(
                    trefoil_allreduce(TREFOIL_IN_PLACE, &x, 1, TREFOIL_INT32, TREFOIL_SUM, comm),
                    TREFOIL_ERROR_INVALID_ARGUMENT);
                EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("parallel region"),
                          std::string::npos)
                    << trefoil_last_error(nullptr);
                EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_INVALID_ARGUMENT);
                EXPECT_EQ(x, 7);
            }
        }
        expect_sum(comm, rank, 2, 100);
    });
}

TEST_F(OpenMp, NeedsThreads) {
    JobOptions options;
    options.torus = "2";
    options.port_threads = -1;  // the calling thread
    run_ranks(2, options, [](int, trefoil_comm_t comm) {
        EXPECT_EQ(comm, nullptr);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("TREFOIL_PORT_THREADS_BY=caller"),
                  std::string::npos)
            << trefoil_last_error(nullptr);
    });
}

TEST(OpenMpPortThreads, RunsEveryWorkerOnceOnTheRuntimesThreads) {
    ASSERT_EQ(openmp_threads(3), 3);
    const auto port_threads = PortThreads::openmp(3);
    ASSERT_EQ(port_threads->workers(), 3);
    std::vector<int> calls(3, 0);
    std::vector<int> numbers(3, -1);
    auto work = [&](int worker) {
        ++calls[static_cast<std::size_t>(worker)];
        numbers[static_cast<std::size_t>(worker)] = omp_get_thread_num();
    };
    for (int run = 0; run < 100; ++run) {
        ASSERT_TRUE(port_threads->run(work));
    }
    EXPECT_EQ(calls, std::vector<int>(3, 100));
    EXPECT_EQ(numbers, (std::vector<int>{0, 1, 2}));
}

// Started with OMP_THREAD_LIMIT=3.
TEST(OpenMpPortThreads, FewerThreadsThanNeededDoNothingUnderALimit) {
    if (omp_get_thread_limit() != 3) {
        GTEST_SKIP() << "OMP_THREAD_LIMIT is not 3";
    }
    EXPECT_EQ(openmp_threads(8), 3);
    const auto port_threads = PortThreads::openmp(8);
    int calls = 0;
    auto work = [&](int) { ++calls; };
    EXPECT_FALSE(port_threads->run(work));
    EXPECT_EQ(calls, 0);
}

TEST_F(OpenMp, APartyThatGetsFewerThreadsThanPortsStillFinishesUnderALimit) {
    if (omp_get_thread_limit() != 3) {
        GTEST_SKIP() << "OMP_THREAD_LIMIT is not 3";
    }
    JobOptions options;
    options.torus = "2x2";
    options.port_threads = 4;
    run_ranks(4, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        expect_sum(comm, rank, 4, 5000);
    });
}

}  // namespace
}  // namespace trefoil::test
