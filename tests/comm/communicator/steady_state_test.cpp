// SPDX-License-Identifier: BSD-3-Clause
// The steady state: repeated calls allocate and lock nothing, neither on the calling nor on the
// port threads, also while a timeline is kept; and where ranks spin a small call asks nothing of
// the kernel.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "kernel_calls.hpp"
#include "tests/threads/workers/allocations.hpp"
#include "tests/variable.hpp"
#include "thread_job.hpp"

namespace trefoil::test {
namespace {

void expect_no_allocations_and_locks(const std::string& shape, int ranks, int port_threads) {
    const Variable direct("TREFOIL_DIRECT_FROM", "64K");
    JobOptions options;
    options.torus = shape;
    options.port_threads = port_threads;
    run_ranks(ranks, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        const std::vector<std::size_t> counts{1, 100, 5000, 400'000};
        std::vector<float> data(counts.back(), 1.0F), received(counts.back());
        std::vector<std::size_t> sent(ranks), taken(ranks);
        for (int r = 0; r < ranks; ++r) {  // from rank a to rank b; some are empty
            const auto between = [](int a, int b) { return (a + 2 * b) % 5 * std::size_t{4000}; };
            sent[r] = between(rank, r);
            taken[r] = between(r, rank);
        }
        std::vector<float> summed(counts[2]);
        std::array<trefoil_request_t, 3> begun{};
        std::array<trefoil_request_t, 4> prepared{};
        constexpr std::size_t landed = 20'000;  // elements that land in the receive buffer itself
        std::vector<float> gathered(landed * static_cast<std::size_t>(ranks));
        ASSERT_EQ(trefoil_allgather_init(data.data(), gathered.data(), landed, TREFOIL_FLOAT, comm,
                                         &prepared[3]),
                  TREFOIL_SUCCESS);
        for (std::size_t i = 0; i < 3; ++i) {
            ASSERT_EQ(trefoil_allreduce_init(data.data(), summed.data() + i * 100,
                                             counts[i] > 100 ? 100 : counts[i], TREFOIL_FLOAT,
                                             TREFOIL_MAX, comm, &prepared[i]),
                      TREFOIL_SUCCESS);
        }
        const auto requests = [&] {
            ASSERT_EQ(trefoil_startall(4, prepared.data()), TREFOIL_SUCCESS);
            for (std::size_t i = 0; i < begun.size(); ++i) {
                ASSERT_EQ(trefoil_iallgather(data.data() + i, received.data() + i * 1000, 1,
                                             TREFOIL_FLOAT, comm, &begun[i]),
                          TREFOIL_SUCCESS);
            }
            ASSERT_EQ(trefoil_waitall(3, begun.data()), TREFOIL_SUCCESS);
            ASSERT_EQ(trefoil_waitall(4, prepared.data()), TREFOIL_SUCCESS);
        };
        const auto round = [&] {
            requests();
            for (const std::size_t count : {1, 3000}) {
                ASSERT_EQ(
                    trefoil_alltoall(data.data(), received.data(), count, TREFOIL_FLOAT, comm),
                    TREFOIL_SUCCESS);
                ASSERT_EQ(
                    trefoil_alltoall(TREFOIL_IN_PLACE, received.data(), count, TREFOIL_FLOAT, comm),
                    TREFOIL_SUCCESS);
            }
            ASSERT_EQ(trefoil_alltoallv(data.data(), sent.data(), nullptr, received.data(),
                                        taken.data(), nullptr, TREFOIL_FLOAT, comm),
                      TREFOIL_SUCCESS);
            for (const std::size_t count : counts) {
                ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_FLOAT,
                                            TREFOIL_MAX, comm),
                          TREFOIL_SUCCESS);
            }
            ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        };
        round();  // makes plans, channels and buffers
        round();
        // The barriers keep other ranks' set-up out of the counted span: the count is the
        // process's.
        const long before = allocations_of_all_threads();
        EXPECT_GT(before, 0) << "the counter does not count";
        const long locks_before = locks_of_all_threads();
        EXPECT_EQ(locks_before > 0, counts_locks) << "the counter does not count";
        for (int i = 0; i < 20; ++i) {
            round();
        }
        const long locks_after = locks_of_all_threads();
        const long after = allocations_of_all_threads();
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        for (trefoil_request_t& request : prepared) {
            ASSERT_EQ(trefoil_request_free(&request), TREFOIL_SUCCESS);
        }
        EXPECT_EQ(after - before, 0) << "rank " << rank << " on " << shape;
        EXPECT_EQ(locks_after - locks_before, 0) << "rank " << rank << " on " << shape;
    });
}

TEST(SteadyState, AllocatesAndLocksNothingOnTheCallingThread) {
    expect_no_allocations_and_locks("3x3", 9, -1);
}
TEST(SteadyState, AllocatesAndLocksNothingWithPortThreads) {
    expect_no_allocations_and_locks("2x2", 4, 2);
}
TEST(SteadyState, AllocatesNothingWithATimeline) {
    std::string directory = testing::TempDir() + "trefoil-trace-XXXXXX";
    ASSERT_NE(mkdtemp(directory.data()), nullptr);
    setenv("TREFOIL_TRACE", (directory + "/out.json").c_str(), 1);
    setenv("TREFOIL_TRACE_EVENTS", "100", 1);  // full before the counted span ends
    expect_no_allocations_and_locks("2x2", 4, 2);
    unsetenv("TREFOIL_TRACE");
    unsetenv("TREFOIL_TRACE_EVENTS");
    EXPECT_TRUE(std::filesystem::exists(directory + "/out.3.json"));
    std::filesystem::remove_all(directory);
}

/// Of this process: what no other one can have.
std::size_t private_bytes() {
    std::size_t all = 0, resident = 0, shared = 0;
    std::ifstream("/proc/self/statm") >> all >> resident >> shared;
    return (resident - shared) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Sixteen calls may run side by side, and each keeps the vectors of all ranks meanwhile.
TEST(SteadyState, OneCallTakesTheMemoryOfOneCall) {
    constexpr int ranks = 8;
    constexpr std::size_t count = 16'000, scratch = ranks * count * sizeof(float);
    JobOptions options;
    options.torus = "8";
    options.algorithm = "linear";
    run_ranks(ranks, options, [&](int rank, trefoil_comm_t comm) {
        std::vector<float> data(count, 1.0F);
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        const std::size_t before = private_bytes();
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_FLOAT,
                                    TREFOIL_SUM, comm),
                  TREFOIL_SUCCESS);
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        const std::size_t after = private_bytes();
        if (rank == 0) {
            EXPECT_LT(after, before + 6 * ranks * scratch);
        }
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
    });
}

/// System calls of so many allreduces on the calling thread.
SystemCalls count_calls(std::vector<float>& data, std::size_t count, int times,
                        trefoil_comm_t comm) {
    const SystemCalls before = system_calls();
    for (int i = 0; i < times; ++i) {
        EXPECT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_FLOAT,
                                    TREFOIL_MAX, comm),
                  TREFOIL_SUCCESS);
    }
    const SystemCalls after = system_calls();
    return {after.waiting - before.waiting, after.other - before.other};
}

/// The calling thread on the `which`th core that it may use; false: there is none.
bool pin_to_core(int which) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return false;
    }
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &allowed) && which-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(core, &one);
            return sched_setaffinity(0, sizeof one, &one) == 0;
        }
    }
    return false;
}

/// Alike on all ranks.
float largest_of_all(float mine, trefoil_comm_t comm) {
    EXPECT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, &mine, 1, TREFOIL_FLOAT, TREFOIL_MAX, comm),
              TREFOIL_SUCCESS);
    return mine;
}

/// The fewest system calls by which a rank waits, in any of many rounds of calls; ends when both
/// ranks have had a round without.
long fewest_waits(std::vector<float>& data, std::size_t count, trefoil_comm_t comm) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    long fewest = 1000;
    int rounds = 0;
    do {
        const SystemCalls made = count_calls(data, count, 20, comm);
        fewest = std::min(fewest, made.waiting);
        EXPECT_EQ(made.other, 0) << count << " elements";
        ++rounds;
    } while (rounds < 50 ||
             (largest_of_all(static_cast<float>(fewest), comm) > 0 &&
              largest_of_all(std::chrono::steady_clock::now() < end ? 0 : 1, comm) == 0));
    return fewest;
}

// Two ranks, a core for each. Another program may take one of the cores, and the other rank then
// rightly stops spinning after a while: so waits may reach the kernel in some rounds, but not in
// all, and nothing else may in any.
TEST(SteadyState, AsksNothingOfTheKernelWhileItSpins) {
    if (std::thread::hardware_concurrency() < 2) {
        GTEST_SKIP() << "one core: ranks that share it do not spin";
    }
    JobOptions options;
    options.torus = "2";
    options.port_threads = -1;
    run_ranks(2, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        EXPECT_TRUE(pin_to_core(rank));
        const std::vector<std::size_t> counts{1, 2,
                                              256};  // the last one does not fit a notification
        std::vector<float> data(counts.back(), 1.0F);
        for (const std::size_t count : counts) {
            count_calls(data, count, 2, comm);  // makes plans
        }
        const bool counting = count_system_calls();
        std::this_thread::yield();
        EXPECT_EQ(system_calls().waiting, counting ? 1 : 0) << "the counter does not count";
        for (const std::size_t count : counts) {
            EXPECT_EQ(fewest_waits(data, count, comm), 0)
                << "rank " << rank << ", " << count << " elements";
        }
        if (!counting) {
            GTEST_SKIP() << "system calls were not counted: no seccomp filter here";
        }
    });
}

}  // namespace
}  // namespace trefoil::test
