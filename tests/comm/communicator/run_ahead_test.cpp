// SPDX-License-Identifier: BSD-3-Clause
// A rank whose part in a rooted call is done goes on to the next call, however late the others are.
#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <vector>

#include "tests/backend/registry/transports_to_test.hpp"
#include "thread_job.hpp"

namespace trefoil::test::run_ahead_test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int ranks = 4;
constexpr int calls_ahead = 64;

class RunAhead : public testing::TestWithParam<TransportToTest> {
  protected:
    JobOptions options() const {
        JobOptions options;
        options.torus = "2x2";
        options.backend = GetParam().backend;
        options.provider = GetParam().provider;
        return options;
    }
};

/// False: it did not come to that in ten seconds.
bool await(const std::atomic<int>& value, int wanted) {
    const auto deadline = Clock::now() + std::chrono::seconds(10);
    while (value.load() < wanted) {
        if (Clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

std::vector<std::int32_t> of_call(int call, std::size_t count) {
    std::vector<std::int32_t> data(count);
    std::iota(data.begin(), data.end(), 1000 * call);
    return data;
}

// The others do nothing at all until it has made 64 calls. Each message has a slot of its own: all
// of them come whole.
TEST_P(RunAhead, ARootMakes64CallsBeforeAnybodyElse) {
    for (const std::size_t count : {2, 250, 1024}) {
        std::atomic<int> made{0};
        run_ranks(ranks, options(), [&](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            std::vector<std::int32_t> data(count);
            ASSERT_EQ(trefoil_bcast(data.data(), count, TREFOIL_INT32, 0, comm), TREFOIL_SUCCESS);
            ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);  // all channels are there
            if (rank != 0) {
                ASSERT_TRUE(await(made, calls_ahead)) << "the root waits for rank " << rank;
            }
            for (int call = 0; call < calls_ahead; ++call) {
                data = rank == 0 ? of_call(call, count) : std::vector<std::int32_t>(count, -1);
                ASSERT_EQ(trefoil_bcast(data.data(), count, TREFOIL_INT32, 0, comm),
                          TREFOIL_SUCCESS)
                    << trefoil_last_error(comm);
                made += rank == 0 ? 1 : 0;
                ASSERT_EQ(data, of_call(call, count)) << "call " << call << " on rank " << rank;
            }
            ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        });
    }
}

TEST_P(RunAhead, ALeafMakes64CallsBeforeTheRoot) {
    std::atomic<int> made{0};
    run_ranks(ranks, options(), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        std::int64_t mine = 1, sum = 0;
        ASSERT_EQ(trefoil_comm_set_algorithm(comm, "reduce", "linear"), TREFOIL_SUCCESS);
        ASSERT_EQ(trefoil_reduce(&mine, &sum, 1, TREFOIL_INT64, TREFOIL_SUM, 0, comm),
                  TREFOIL_SUCCESS);
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        if (rank == 0) {
            ASSERT_TRUE(await(made, (ranks - 1) * calls_ahead)) << "somebody waits for the root";
        }
        for (int call = 0; call < calls_ahead; ++call) {
            mine = 10 * call + rank;
            ASSERT_EQ(trefoil_reduce(&mine, &sum, 1, TREFOIL_INT64, TREFOIL_SUM, 0, comm),
                      TREFOIL_SUCCESS)
                << trefoil_last_error(comm);
            made += rank == 0 ? 0 : 1;
            if (rank == 0) {
                ASSERT_EQ(sum, 10 * call * ranks + ranks * (ranks - 1) / 2) << "call " << call;
            }
        }
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
    });
}

// Rooted calls of all sizes, so that rings of landing slots take turns, by roots that take turns,
// far beyond the number of slots, with ranks that stall.
TEST_P(RunAhead, NoMessageIsOverrunByLaterOnes) {
    constexpr int calls = 1500;
    run_ranks(ranks, options(), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        std::mt19937 shared(1), own(static_cast<unsigned>(rank));
        int root = 0;
        for (int call = 0; call < calls; ++call) {
            root = shared() % 200 == 0 ? static_cast<int>(shared() % ranks) : root;
            const std::size_t sizes[] = {1,   2,    16,   17,   200,   256,
                                         257, 2000, 2048, 2500, 16000, 16384};
            const std::size_t count = sizes[shared() % std::size(sizes)];
            if (own() % 300 == 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds(own() % 20));
            }
            std::vector<std::int32_t> data(count, -1);
            if (rank == root) {
                data = of_call(call, count);
            }
            ASSERT_EQ(trefoil_bcast(data.data(), count, TREFOIL_INT32, root, comm), TREFOIL_SUCCESS)
                << trefoil_last_error(comm);
            ASSERT_EQ(data, of_call(call, count)) << "call " << call << " on rank " << rank;
        }
    });
}

// A slot of 1 KiB has several messages of one call, which begin elsewhere in each schedule. Where
// one begins there are data of an earlier call: here they look like the number that the slot's next
// use has, 128 calls later.
TEST_P(RunAhead, OldDataInASlotAreNoMessage) {
    constexpr int slots = 128, calls = 2000;
    run_ranks(ranks, options(), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        for (int call = 0; call < calls; ++call) {
            ASSERT_EQ(
                trefoil_comm_set_algorithm(comm, "allreduce", call % 3 == 0 ? "ring" : "linear"),
                TREFOIL_SUCCESS);
            const std::vector<std::int32_t> mine(160, call + slots + 1);
            std::vector<std::int32_t> greatest(mine.size(), -1);
            ASSERT_EQ(trefoil_allreduce(mine.data(), greatest.data(), mine.size(), TREFOIL_INT32,
                                        TREFOIL_MAX, comm),
                      TREFOIL_SUCCESS)
                << trefoil_last_error(comm);
            ASSERT_EQ(greatest, mine) << "call " << call << " on rank " << rank;
        }
    });
}

// Messages move through their landing slots, so that those of other lengths lie across them.
TEST_P(RunAhead, MessagesThatMoveThroughTheirSlotsComeWhole) {
    JobOptions two = options();
    two.torus = "2";
    run_ranks(2, two, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        std::mt19937 shared(1), own(static_cast<unsigned>(rank));
        for (int call = 0; call < 400; ++call) {
            const std::size_t sizes[] = {300, 4000, 5000, 16000, 33000, 70000};
            const std::size_t count = sizes[shared() % std::size(sizes)];
            const int root = static_cast<int>(shared() % 2);
            const bool adds = shared() % 2 == 0;
            if (own() % 100 == 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds(own() % 5));
            }
            const std::vector<std::int32_t> sent = of_call(call, count);
            std::vector<std::int32_t> data = adds || rank == root ? sent : std::vector<int>(count);
            const trefoil_status_t status =
                adds ? trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_INT32,
                                         TREFOIL_MAX, comm)
                     : trefoil_bcast(data.data(), count, TREFOIL_INT32, root, comm);
            ASSERT_EQ(status, TREFOIL_SUCCESS) << trefoil_last_error(comm);
            ASSERT_EQ(data, sent) << "call " << call << " on rank " << rank;
        }
    });
}

/// Ranks are threads here. libfabric's shm crashes when one's endpoint ends while another one still
/// answers it.
std::vector<TransportToTest> transports_but_shm() {
    auto all = transports_to_test();
    std::erase_if(all, [](const TransportToTest& each) { return each.name == "shm"; });
    return all;
}

INSTANTIATE_TEST_SUITE_P(Transports, RunAhead, testing::ValuesIn(transports_but_shm()),
                         name_of_transport);

}  // namespace
}  // namespace trefoil::test::run_ahead_test
