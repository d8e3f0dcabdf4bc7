// SPDX-License-Identifier: BSD-3-Clause
// Calls in flight: nonblocking and persistent ones, tests and waits in any order.
#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <random>

#include "sum_in_flight.hpp"

namespace trefoil::test {
namespace {

void many_sums(const JobOptions& options, int ranks) {
    run_ranks(ranks, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        std::mt19937 own(static_cast<unsigned>(rank));
        for (int round = 0; round < 5; ++round) {
            std::array<Sum, 12> sums;
            for (std::size_t i = 0; i < sums.size(); ++i) {
                const std::size_t count = i % 3 == 0 ? 1 : i % 3 == 1 ? 1000 : 70'000;
                sums[i].begin(comm, rank, count, static_cast<std::int64_t>(i + 1));
                if (own() % 3 == 0) {
                    std::this_thread::sleep_for(std::chrono::microseconds(own() % 500));
                }
            }
            std::vector<std::size_t> order(sums.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::shuffle(order.begin(), order.end(), own);
            for (const std::size_t i : order) {
                ASSERT_EQ(trefoil_wait(&sums[i].request), ok) << trefoil_last_error(nullptr);
                EXPECT_EQ(sums[i].request, TREFOIL_REQUEST_NULL);
                EXPECT_TRUE(sums[i].right(ranks, static_cast<std::int64_t>(i + 1))) << i;
            }
        }
        int calls = -1;
        EXPECT_EQ(trefoil_comm_in_flight(comm, &calls), ok);
        EXPECT_EQ(calls, 0);
    });
}

TEST(Requests, ManyInFlightEndInAnyOrder) {
    many_sums(on("3x3"), 9);
}
TEST(Requests, ManyInFlightWithPortThreads) {
    many_sums(on("2x2", 4), 4);
    many_sums(on("5", 1), 5);
}

/// The first large call makes a lane while another thread tests a small one.
TEST(Requests, AThreadTestsWhileALaneIsMade) {
    for (const int port_threads : {-1, 1}) {
        run_ranks(2, on("2", port_threads), [&](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            Sum small, large;
            small.begin(comm, rank, 1, 1);
            std::thread tests([&] {
                int done = 0, calls = 0;
                while (done == 0) {
                    ASSERT_EQ(trefoil_test(&small.request, &done), ok);
                    ASSERT_EQ(trefoil_comm_in_flight(comm, &calls), ok);
                }
            });
            large.begin(comm, rank, 100'000, 2);
            tests.join();
            EXPECT_TRUE(small.right(2, 1));
            ASSERT_EQ(trefoil_wait(&large.request), ok) << trefoil_last_error(comm);
            EXPECT_TRUE(large.right(2, 2));
        });
    }
}

// Each collective once, all in flight together, then all again as persistent calls.
struct All {
    int rank, ranks;
    std::vector<int> vector, blocks, gathered, bcast, gather, exchange, own, scattered, reduced,
        received;
    std::vector<std::size_t> counts;

    All(int own_rank, int all) : rank(own_rank), ranks(all) { fill(); }
    /// In the same places: persistent calls know them.
    void fill() {
        const auto n = static_cast<std::size_t>(ranks);
        vector.assign(7, rank + 1);
        reduced.assign(7, -1);
        blocks.resize(n);
        std::iota(blocks.begin(), blocks.end(), 100 * rank);
        own.assign(1, -1);
        gathered.assign(n, -1);
        bcast.assign(5, rank == root() ? 77 : -1);
        gather.assign(n, -1);
        scattered.assign(n, -1);
        exchange.assign(n, -1);
        counts.resize(n);
        std::iota(counts.begin(), counts.end(), std::size_t{1});
        received.assign(n * (n + 1) / 2, -1);
    }
    int root() const { return ranks == 1 ? 0 : 1; }
    int sum() const { return ranks * (ranks + 1) / 2; }
    void check() const {
        EXPECT_EQ(reduced, std::vector<int>(7, sum()));
        EXPECT_EQ(own[0], 100 * (ranks * (ranks - 1) / 2) + ranks * rank);
        EXPECT_EQ(bcast, std::vector<int>(5, 77));
        for (int r = 0; r < ranks; ++r) {
            const auto i = static_cast<std::size_t>(r);
            EXPECT_EQ(gathered[i], r + 1);
            EXPECT_EQ(exchange[i], 100 * r + rank);
            if (rank == 0) {
                EXPECT_EQ(gather[i], r + 1);
            }
        }
        for (int i = 0; i <= rank; ++i) {
            EXPECT_EQ(scattered[static_cast<std::size_t>(i)], 1000 + i);
        }
        if (rank == ranks - 1) {
            std::size_t at = 0;
            for (int r = 0; r < ranks; ++r) {
                for (int i = 0; i <= r; ++i) {
                    EXPECT_EQ(received[at++], 100 * r + i);
                }
            }
        }
    }
};

TEST(Requests, EveryCollectiveCanBeInFlight) {
    for (const char* torus : {"2x3", "5", "1"}) {
        const int ranks = torus[1] == 'x' ? 6 : torus[0] - '0';
        run_ranks(ranks, on(torus), [&](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            All a(rank, ranks);
            // One block of r + 1 elements from a common vector, so that scatterv overlaps nothing.
            std::vector<int> steps(a.received.size());
            std::vector<std::size_t> at(a.counts.size());
            for (std::size_t r = 0, next = 0; r < at.size(); next += a.counts[r++]) {
                at[r] = next;
                std::iota(steps.begin() + static_cast<std::ptrdiff_t>(next),
                          steps.begin() + static_cast<std::ptrdiff_t>(next + a.counts[r]), 1000);
            }
            const auto n = static_cast<std::size_t>(rank) + 1;
            std::array<trefoil_request_t, 10> q{};
            const auto all = [&](bool persistent) {
                auto f = [&](auto now, auto init, auto... arguments) {
                    return persistent ? init(arguments...) : now(arguments...);
                };
                EXPECT_EQ(
                    f(trefoil_iallreduce, trefoil_allreduce_init, a.vector.data(), a.reduced.data(),
                      std::size_t{7}, TREFOIL_INT32, TREFOIL_SUM, comm, &q[0]),
                    ok);
                EXPECT_EQ(f(trefoil_ireduce_scatter_block, trefoil_reduce_scatter_block_init,
                            a.blocks.data(), a.own.data(), std::size_t{1}, TREFOIL_INT32,
                            TREFOIL_SUM, comm, &q[1]),
                          ok);
                EXPECT_EQ(f(trefoil_iallgather, trefoil_allgather_init, a.vector.data(),
                            a.gathered.data(), std::size_t{1}, TREFOIL_INT32, comm, &q[2]),
                          ok);
                EXPECT_EQ(f(trefoil_ibcast, trefoil_bcast_init, a.bcast.data(), std::size_t{5},
                            TREFOIL_INT32, a.root(), comm, &q[3]),
                          ok);
                EXPECT_EQ(f(trefoil_igather, trefoil_gather_init, a.vector.data(), a.gather.data(),
                            std::size_t{1}, TREFOIL_INT32, 0, comm, &q[4]),
                          ok);
                EXPECT_EQ(f(trefoil_ialltoall, trefoil_alltoall_init, a.blocks.data(),
                            a.exchange.data(), std::size_t{1}, TREFOIL_INT32, comm, &q[5]),
                          ok);
                EXPECT_EQ(f(trefoil_iscatterv, trefoil_scatterv_init, steps.data(), a.counts.data(),
                            at.data(), a.scattered.data(), n, TREFOIL_INT32, 0, comm, &q[6]),
                          ok)
                    << trefoil_last_error(nullptr);
                EXPECT_EQ(
                    f(trefoil_igatherv, trefoil_gatherv_init, a.blocks.data(), n, a.received.data(),
                      a.counts.data(), at.data(), TREFOIL_INT32, ranks - 1, comm, &q[7]),
                    ok)
                    << trefoil_last_error(nullptr);
                EXPECT_EQ(f(trefoil_ibarrier, trefoil_barrier_init, comm, &q[8]), ok);
            };
            all(false);
            EXPECT_EQ(trefoil_waitall(10, q.data()), ok) << trefoil_last_error(nullptr);
            a.check();
            all(true);
            for (int round = 0; round < 3; ++round) {
                a.fill();
                ASSERT_EQ(trefoil_startall(9, q.data()), ok) << trefoil_last_error(nullptr);
                int done = 0;
                while (done == 0) {
                    ASSERT_EQ(trefoil_testall(10, q.data(), &done), ok);
                }
                a.check();
            }
            for (int i = 0; i < 9; ++i) {
                EXPECT_EQ(trefoil_request_free(&q[static_cast<std::size_t>(i)]), ok);
            }
        });
    }
}

TEST(Requests, IssuingWaitsForNobody) {
    std::atomic<bool> issued{false};
    run_ranks(3, on("3"), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        Sum first;
        first.begin(comm, rank, 10, 1);  // connects
        ASSERT_EQ(trefoil_wait(&first.request), ok);
        std::array<Sum, 8> sums;
        if (rank == 2) {
            const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
            while (!issued && std::chrono::steady_clock::now() < deadline) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            EXPECT_TRUE(issued);
        }
        for (Sum& sum : sums) {
            sum.begin(comm, rank, 10, 3);
        }
        if (rank == 0) {
            int done = 1;
            EXPECT_EQ(trefoil_test(&sums[0].request, &done), ok);
            EXPECT_EQ(done, 0) << "a rank has not even begun";
            issued = true;
        }
        for (Sum& sum : sums) {
            ASSERT_EQ(trefoil_wait(&sum.request), ok);
            EXPECT_TRUE(sum.right(3, 3));
        }
    });
}

TEST(Requests, OtherThreadsTestAndWait) {
    for (const int port_threads : {-1, 2}) {
        run_ranks(2, on("2", port_threads), [&](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            constexpr int rounds = 200;
            std::vector<Sum> sums(rounds);
            std::atomic<int> begun{0};
            const auto end = [&](int parity) {
                for (int i = parity; i < rounds; i += 2) {
                    while (begun.load() <= i) {
                        std::this_thread::yield();
                    }
                    Sum& sum = sums[static_cast<std::size_t>(i)];
                    int done = 0;
                    for (int tests = 0; done == 0 && tests < 5; ++tests) {
                        EXPECT_EQ(trefoil_test(&sum.request, &done), ok);
                    }
                    EXPECT_EQ(trefoil_wait(&sum.request), ok) << trefoil_last_error(nullptr);
                    EXPECT_TRUE(sum.right(2, i));
                }
            };
            std::thread odd([&] { end(1); }), even([&] { end(0); });
            for (int i = 0; i < rounds; ++i) {
                sums[static_cast<std::size_t>(i)].begin(comm, rank, i % 7 == 0 ? 20'000 : 3, i);
                begun = i + 1;
            }
            odd.join();
            even.join();
        });
    }
}

TEST(Requests, WaitanyFindsOneAfterTheOther) {
    run_ranks(2, on("2"), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        std::array<Sum, 4> sums;
        std::array<trefoil_request_t, 4> q{};
        for (std::size_t i = 0; i < sums.size(); ++i) {
            sums[i].begin(comm, rank, 100, 1);
            q[i] = sums[i].request;
        }
        std::array<int, 4> seen{};
        int index = -1;
        for (int i = 0; i < 4; ++i) {
            ASSERT_EQ(trefoil_waitany(4, q.data(), &index), ok);
            ASSERT_GE(index, 0);
            ++seen[static_cast<std::size_t>(index)];
        }
        EXPECT_EQ(seen, (std::array<int, 4>{1, 1, 1, 1}));
        ASSERT_EQ(trefoil_waitany(4, q.data(), &index), ok);
        EXPECT_EQ(index, -1);
    });
}

TEST(Requests, WhatIsLetGoOfGoesOn) {
    run_ranks(2, on("2"), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        std::vector<Sum> sums(60);
        for (Sum& sum : sums) {
            sum.begin(comm, rank, 50, 1);
            ASSERT_EQ(trefoil_request_free(&sum.request), ok);
            EXPECT_EQ(sum.request, TREFOIL_REQUEST_NULL);
        }
        ASSERT_EQ(trefoil_barrier(comm), ok);  // the last in order, so all others have ended
        int calls = 1;
        while (calls > 0) {
            ASSERT_EQ(trefoil_progress(comm), ok);
            ASSERT_EQ(trefoil_comm_in_flight(comm, &calls), ok);
        }
        for (const Sum& sum : sums) {
            EXPECT_TRUE(sum.right(2, 1));
        }
    });
}

}  // namespace
}  // namespace trefoil::test
