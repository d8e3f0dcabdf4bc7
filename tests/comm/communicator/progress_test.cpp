// SPDX-License-Identifier: BSD-3-Clause
// The caller's own progress, while a call waits for a rank that is late.
#include <atomic>
#include <chrono>
#include <thread>

#include "thread_job.hpp"

namespace trefoil::test {
namespace {

/// What rank 0's progress does: counts, and looks at who calls it.
struct Progressed {
    ThreadAllgather::Member member{};
    std::thread::id caller;
    std::atomic<int> calls{0}, by_others{0};

    static int allgather(const void* mine, void* all, size_t bytes, void* context) {
        return ThreadAllgather::allgather(mine, all, bytes,
                                          &static_cast<Progressed*>(context)->member);
    }
    static void count(void* context) {
        auto* const self = static_cast<Progressed*>(context);
        self->calls.fetch_add(1);
        self->by_others.fetch_add(std::this_thread::get_id() != self->caller ? 1 : 0);
    }
};

bool reaches(const std::atomic<int>& value, int least) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (value.load() < least && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return value.load() >= least;
}

/// Rank 1 comes to the second call only when rank 0 has made progress often, long sleeps included.
void late_rank_sees_progress(int port_threads) {
    JobOptions options;
    options.torus = "2";
    options.port_threads = port_threads;
    Progressed first;
    run_ranks(
        2, options,
        [&](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            const auto sum = [&] {
                int one = 1;
                EXPECT_EQ(
                    trefoil_allreduce(TREFOIL_IN_PLACE, &one, 1, TREFOIL_INT32, TREFOIL_SUM, comm),
                    TREFOIL_SUCCESS);
                EXPECT_EQ(one, 2);
            };
            sum();  // prepares the second
            if (rank == 1) {
                const int before = first.calls.load();
                EXPECT_TRUE(reaches(first.calls, before + 400)) << first.calls.load() - before;
            }
            sum();
        },
        [&](int rank, trefoil_config_t& config) {
            if (rank == 0) {
                first.member = *static_cast<ThreadAllgather::Member*>(config.context);
                first.caller = std::this_thread::get_id();
                config.allgather = &Progressed::allgather;
                config.progress = &Progressed::count;
                config.context = &first;
            }
        });
    EXPECT_EQ(first.by_others.load(), 0);
}

TEST(Progress, OfACallerThatDrivesThePorts) {
    late_rank_sees_progress(-1);
}

TEST(Progress, OfACallerThatWaitsForPortThreads) {
    late_rank_sees_progress(2);
}

}  // namespace
}  // namespace trefoil::test
