// SPDX-License-Identifier: BSD-3-Clause
// A call whose buffers overlap those of a pending one is refused, and the pending one goes on.
#include <numeric>
#include <vector>

#include "sum_in_flight.hpp"

namespace trefoil::test::overlapping_buffers_test {
namespace {

constexpr std::size_t n = 1000;

void expect_refused(trefoil_status_t status, const std::vector<std::string>& words) {
    EXPECT_EQ(status, TREFOIL_ERROR_INVALID_ARGUMENT);
    const std::string told = trefoil_last_error(nullptr);
    for (const std::string& each : words) {
        EXPECT_NE(told.find(each), std::string::npos) << "no \"" << each << "\" in: " << told;
    }
}

/// Two vectors of n numbers, and the calls that are tried with them.
struct Vectors {
    explicit Vectors(trefoil_comm_t of) : comm(of) { std::iota(send.begin(), send.end(), 0); }

    trefoil_status_t sum(const int* from, int* to, trefoil_request_t* request,
                         std::size_t count = n) const {
        return trefoil_iallreduce(from, to, count, TREFOIL_INT32, TREFOIL_SUM, comm, request);
    }
    /// Of two ranks that bring the same.
    void expect_sum(const std::vector<int>& result, std::size_t at = 0) const {
        for (std::size_t i = 0; i < n; ++i) {
            ASSERT_EQ(result[at + i], 2 * send[i]) << i;
        }
    }

    trefoil_comm_t comm;
    std::vector<int> send = std::vector<int>(2 * n), recv = std::vector<int>(2 * n);
    trefoil_request_t first = TREFOIL_REQUEST_NULL, second = TREFOIL_REQUEST_NULL;
};

void on_two(const std::function<void(int, trefoil_comm_t)>& body) {
    run_ranks(2, on("2"), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        body(rank, comm);
    });
}

TEST(OverlappingBuffers, AreRefusedAndThePendingCallGoesOn) {
    on_two([](int rank, trefoil_comm_t comm) {
        Vectors v(comm);
        ASSERT_EQ(v.sum(v.send.data(), v.recv.data(), &v.first), ok);
        // Ten numbers of what the first call receives.
        expect_refused(
            v.sum(v.send.data(), v.recv.data() + n - 10, &v.second),
            {"receive buffer of this allreduce overlaps the receive buffer of the allreduce",
             "call 1 of this communicator", "40 bytes", "wait for that call"});
        EXPECT_EQ(v.second, TREFOIL_REQUEST_NULL);
        expect_refused(v.sum(v.recv.data(), v.recv.data() + n, &v.second),
                       {"send buffer of this allreduce overlaps the receive buffer", "4000 bytes"});
        expect_refused(v.sum(v.recv.data() + n, v.send.data() + n - 1, &v.second, 1),
                       {"receive buffer of this allreduce overlaps the send buffer", "4 bytes"});
        // Calls that block, and other collectives.
        expect_refused(trefoil_bcast(v.recv.data(), 5, TREFOIL_INT32, 1, comm),
                       {rank == 1 ? "send" : "receive", "of this bcast", "20 bytes"});
        expect_refused(trefoil_ialltoall(v.send.data(), v.recv.data() + n - 2, 1, TREFOIL_INT32,
                                         comm, &v.second),
                       {"receive buffer of this alltoall", "8 bytes"});
        // All calls that were refused have no number: what comes next is right on all ranks.
        ASSERT_EQ(v.sum(v.send.data(), v.recv.data() + n, &v.second), ok);
        ASSERT_EQ(trefoil_wait(&v.first), ok) << trefoil_last_error(nullptr);
        ASSERT_EQ(trefoil_wait(&v.second), ok) << trefoil_last_error(nullptr);
        v.expect_sum(v.recv);
        v.expect_sum(v.recv, n);
    });
}

// However far the call has come, all ranks refuse alike until they have waited.
TEST(OverlappingBuffers, AreHeldUntilTheRequestEnds) {
    on_two([](int, trefoil_comm_t comm) {
        Vectors v(comm);
        ASSERT_EQ(v.sum(v.send.data(), v.recv.data(), &v.first), ok);
        ASSERT_EQ(trefoil_barrier(comm), ok);
        ASSERT_EQ(trefoil_barrier(comm), ok);
        expect_refused(v.sum(v.send.data(), v.recv.data(), &v.second), {"4000 bytes"});
        int done = 0;
        while (done == 0) {
            ASSERT_EQ(trefoil_test(&v.first, &done), ok);
        }
        ASSERT_EQ(v.sum(v.send.data(), v.recv.data(), &v.second), ok);
        ASSERT_EQ(trefoil_wait(&v.second), ok);
        v.expect_sum(v.recv);
        // One that was let go of holds them until it is over.
        ASSERT_EQ(v.sum(v.send.data(), v.recv.data(), &v.first), ok);
        ASSERT_EQ(trefoil_request_free(&v.first), ok);
        int calls = 1;
        while (calls != 0) {
            ASSERT_EQ(trefoil_progress(comm), ok);
            ASSERT_EQ(trefoil_comm_in_flight(comm, &calls), ok);
        }
        EXPECT_EQ(v.sum(v.send.data(), v.recv.data(), &v.second), ok)
            << trefoil_last_error(nullptr);
        EXPECT_EQ(trefoil_wait(&v.second), ok);
    });
}

TEST(OverlappingBuffers, WhatIsOnlyReadMayBeShared) {
    on_two([](int rank, trefoil_comm_t comm) {
        Vectors v(comm);
        std::vector<int> got(n);
        ASSERT_EQ(v.sum(v.send.data(), v.recv.data(), &v.first), ok);
        ASSERT_EQ(v.sum(v.send.data(), v.recv.data() + n, &v.second), ok)
            << trefoil_last_error(nullptr);
        std::array<trefoil_request_t, 4> more{};
        // The root of a broadcast, and that of a scatter in place, read only.
        int* const whole = v.send.data();
        int* const piece = rank == 0 ? whole : got.data();
        void* const mine = rank == 0 ? TREFOIL_IN_PLACE : got.data() + n / 2;
        ASSERT_EQ(trefoil_ibcast(piece, n / 2, TREFOIL_INT32, 0, comm, &more[0]), ok)
            << trefoil_last_error(nullptr);
        ASSERT_EQ(trefoil_iscatter(whole, mine, n / 4, TREFOIL_INT32, 0, comm, &more[1]), ok)
            << trefoil_last_error(nullptr);
        for (trefoil_request_t* request : {&v.first, &v.second, &more[0], &more[1]}) {
            ASSERT_EQ(trefoil_wait(request), ok) << trefoil_last_error(nullptr);
        }
        v.expect_sum(v.recv);
        v.expect_sum(v.recv, n);
        EXPECT_EQ(piece[n / 2 - 1], static_cast<int>(n) / 2 - 1);
        EXPECT_EQ(rank == 0 ? static_cast<int>(n) / 4 : got[n / 2], static_cast<int>(n) / 4);
    });
}

// Blocks of two calls may lie between each other.
TEST(OverlappingBuffers, GapsBetweenBlocksAreFree) {
    on_two([](int rank, trefoil_comm_t comm) {
        std::array<int, 40> all{};
        const std::array<int, 10> mine{rank + 1, rank + 1, rank + 1, rank + 1, rank + 1,
                                       rank + 1, rank + 1, rank + 1, rank + 1, rank + 1};
        const std::size_t counts[] = {10, 10}, even[] = {0, 20}, odd[] = {10, 30}, bad[] = {5, 30};
        trefoil_request_t first = TREFOIL_REQUEST_NULL, second = TREFOIL_REQUEST_NULL;
        const auto gather = [&](const std::size_t* places, trefoil_request_t* request) {
            return trefoil_iallgatherv(mine.data(), 10, all.data(), counts, places, TREFOIL_INT32,
                                       comm, request);
        };
        ASSERT_EQ(gather(even, &first), ok) << trefoil_last_error(nullptr);
        expect_refused(gather(bad, &second), {"receive buffer of this allgather", "20 bytes"});
        ASSERT_EQ(gather(odd, &second), ok) << trefoil_last_error(nullptr);
        ASSERT_EQ(trefoil_wait(&first), ok);
        ASSERT_EQ(trefoil_wait(&second), ok);
        for (std::size_t i = 0; i < all.size(); ++i) {
            EXPECT_EQ(all[i], i < 20 ? 1 : 2) << i;
        }
    });
}

TEST(OverlappingBuffers, AStartIsRefusedAndMayBeTriedAgain) {
    on_two([](int, trefoil_comm_t comm) {
        Vectors v(comm);
        ASSERT_EQ(trefoil_allreduce_init(v.send.data(), v.recv.data(), n, TREFOIL_INT32,
                                         TREFOIL_SUM, comm, &v.first),
                  ok);
        // A persistent request that is not under way holds nothing.
        ASSERT_EQ(v.sum(v.send.data(), v.recv.data(), &v.second), ok);
        expect_refused(trefoil_start(&v.first), {"receive buffer of this allreduce", "4000 bytes"});
        ASSERT_EQ(trefoil_wait(&v.first), ok) << "it is not under way";
        ASSERT_EQ(trefoil_wait(&v.second), ok);
        for (int start = 0; start < 3; ++start) {
            ASSERT_EQ(trefoil_start(&v.first), ok) << trefoil_last_error(nullptr);
            expect_refused(v.sum(v.send.data(), v.recv.data(), &v.second), {"4000 bytes"});
            ASSERT_EQ(trefoil_wait(&v.first), ok);
            v.expect_sum(v.recv);
        }
        ASSERT_EQ(trefoil_request_free(&v.first), ok);
    });
}

}  // namespace
}  // namespace trefoil::test::overlapping_buffers_test
