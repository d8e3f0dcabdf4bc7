// SPDX-License-Identifier: BSD-3-Clause
// What callers do wrong with calls in flight: it is refused in words, or found among the ranks.
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "sum_in_flight.hpp"

namespace trefoil::test::request_mistakes_test {
namespace {

void expect_refused(trefoil_status_t status, const std::string& words) {
    EXPECT_NE(status, ok);
    EXPECT_NE(std::string(trefoil_last_error(nullptr)).find(words), std::string::npos)
        << trefoil_last_error(nullptr);
}

TEST(RequestMistakes, MistakesAreTold) {
    run_ranks(2, on("2"), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        int value = rank, result = 0, done = 0;
        trefoil_request_t request = TREFOIL_REQUEST_NULL;
        EXPECT_EQ(trefoil_wait(&request), ok) << "there is nothing to wait for";
        expect_refused(trefoil_start(&request), "no request to start");
        expect_refused(trefoil_wait(nullptr), "place of the request is NULL");
        expect_refused(
            trefoil_iallreduce(&value, &result, 1, TREFOIL_INT32, TREFOIL_SUM, comm, nullptr),
            "place for the request is NULL");
        expect_refused(
            trefoil_iallreduce(nullptr, &result, 1, TREFOIL_INT32, TREFOIL_SUM, comm, &request),
            "");
        EXPECT_EQ(request, TREFOIL_REQUEST_NULL);
        ASSERT_EQ(
            trefoil_allreduce_init(&value, &result, 1, TREFOIL_INT32, TREFOIL_SUM, comm, &request),
            ok);
        EXPECT_EQ(trefoil_wait(&request), ok) << "it was not started";
        EXPECT_EQ(trefoil_test(&request, &done), ok);
        EXPECT_EQ(done, 1);
        ASSERT_EQ(trefoil_start(&request), ok);
        expect_refused(trefoil_start(&request), "under way already");
        if (rank == 0) {
            // The other rank may have sent already; nothing has been taken in here.
            expect_refused(trefoil_comm_destroy(comm), "in flight on this communicator");
        }
        ASSERT_EQ(trefoil_wait(&request), ok);
        EXPECT_EQ(result, 1);
        const trefoil_request_t copy = request;
        ASSERT_EQ(trefoil_request_free(&request), ok);
        trefoil_request_t stale = copy;
        expect_refused(trefoil_wait(&stale), "it was freed");
        expect_refused(trefoil_start(&stale), "it was freed");
        expect_refused(trefoil_request_free(&stale), "it was freed");
        ASSERT_EQ(trefoil_ibarrier(comm, &request), ok);
        expect_refused(trefoil_start(&request), "only what an _init function made");
        ASSERT_EQ(trefoil_wait(&request), ok);
    });
}

void add(const void* in, void* inout, size_t count, void*) {
    for (size_t i = 0; i < count; ++i) {
        static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
    }
}

TEST(RequestMistakes, AnOperationIsNotFreedUnderACall) {
    run_ranks(2, on("2"), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        trefoil_op_t op = TREFOIL_SUM;
        ASSERT_EQ(trefoil_op_create(add, nullptr, sizeof(int), 1, &op), ok);
        int value = rank, result = -1;
        trefoil_request_t request = TREFOIL_REQUEST_NULL;
        ASSERT_EQ(trefoil_iallreduce(&value, &result, 1, TREFOIL_INT32, op, comm, &request), ok);
        expect_refused(trefoil_op_free(op), "used by a call in flight");
        ASSERT_EQ(trefoil_wait(&request), ok);
        EXPECT_EQ(result, 1);
        EXPECT_EQ(trefoil_op_free(op), ok);
    });
}

TEST(RequestMistakes, APersistentRequestOutlivesItsCommunicatorInWordsOnly) {
    std::array<trefoil_request_t, 2> requests{};
    std::array<int, 2> values{}, results{};
    run_ranks(2, on("2"), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        const auto r = static_cast<std::size_t>(rank);
        ASSERT_EQ(trefoil_allreduce_init(&values[r], &results[r], 1, TREFOIL_INT32, TREFOIL_SUM,
                                         comm, &requests[r]),
                  ok);
    });
    for (trefoil_request_t& request : requests) {
        expect_refused(trefoil_start(&request), "communicator was destroyed");
        EXPECT_EQ(trefoil_request_free(&request), ok);
        EXPECT_EQ(request, TREFOIL_REQUEST_NULL);
    }
}

// As a program that reads its own list of handles may do by mistake.
TEST(RequestMistakes, AnOldHandleNeverMeansAnotherCall) {
    run_ranks(1, on("1"), [&](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        int value = 1, result = 0;
        std::vector<trefoil_request_t> old;
        for (int i = 0; i < 100; ++i) {  // more than are taken from the stock at a time
            trefoil_request_t request = TREFOIL_REQUEST_NULL;
            ASSERT_EQ(
                trefoil_iallreduce(&value, &result, 1, TREFOIL_INT32, TREFOIL_SUM, comm, &request),
                ok);
            old.push_back(request);
            ASSERT_EQ(i % 2 == 0 ? trefoil_wait(&request) : trefoil_request_free(&request), ok);
        }
        trefoil_request_t now = TREFOIL_REQUEST_NULL;
        ASSERT_EQ(trefoil_ibarrier(comm, &now), ok);
        old.push_back(reinterpret_cast<trefoil_request_t>(&value));  // never was a handle
        for (trefoil_request_t handle : old) {
            EXPECT_NE(handle, now);
            expect_refused(trefoil_wait(&handle), "it was freed");
            expect_refused(trefoil_request_free(&handle), "it was freed");
        }
        EXPECT_EQ(trefoil_wait(&now), ok);
    });
}

TEST(RequestMistakes, ARequestThatNobodyWaitedForOutlivesItsCommunicatorInWordsOnly) {
    run_ranks(1, on("1"), [&](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        trefoil_comm_t dup = nullptr, next = nullptr;
        ASSERT_EQ(trefoil_comm_dup(comm, &dup), ok) << trefoil_last_error(nullptr);
        int value = 1, result = 0;
        trefoil_request_t left = TREFOIL_REQUEST_NULL, now = TREFOIL_REQUEST_NULL;
        ASSERT_EQ(trefoil_iallreduce(&value, &result, 1, TREFOIL_INT32, TREFOIL_SUM, dup, &left),
                  ok);
        ASSERT_EQ(trefoil_comm_destroy(dup), ok) << trefoil_last_error(nullptr);
        ASSERT_EQ(trefoil_comm_dup(comm, &next), ok) << trefoil_last_error(nullptr);
        ASSERT_EQ(trefoil_ibarrier(next, &now), ok);
        expect_refused(trefoil_wait(&left), "communicator was destroyed");
        EXPECT_EQ(trefoil_wait(&now), ok);
        EXPECT_EQ(trefoil_request_free(&left), ok);
        EXPECT_EQ(left, TREFOIL_REQUEST_NULL);
        EXPECT_EQ(trefoil_comm_destroy(next), ok);
    });
}

TEST(RequestMistakes, TestallEndsAllOfAFailedCommunicator) {
    run_ranks(2, on("2"), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        std::array<Sum, 4> sums;
        std::array<trefoil_request_t, 4> requests{};
        for (std::size_t i = 0; i < sums.size(); ++i) {
            sums[i].begin(comm, rank, rank == 0 ? 1 : 20, 1);
            requests[i] = sums[i].request;
        }
        trefoil_status_t status = ok;
        int done = 0;
        while (done == 0) {
            status = trefoil_testall(4, requests.data(), &done);
        }
        EXPECT_EQ(status, TREFOIL_ERROR_MISMATCH) << trefoil_last_error(comm);
        for (const trefoil_request_t request : requests) {
            EXPECT_EQ(request, TREFOIL_REQUEST_NULL);
        }
    });
}

TEST(RequestMistakes, CallsInAnotherOrderAreFound) {
    JobOptions options = on("2");
    options.timeout_seconds = 5;
    run_ranks(2, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        Sum small, large;
        small.begin(comm, rank, 1, 1);  // both are connected
        ASSERT_EQ(trefoil_wait(&small.request), ok);
        large.begin(comm, rank, 20, 1);
        ASSERT_EQ(trefoil_wait(&large.request), ok);
        small.begin(comm, rank, rank == 0 ? 1 : 20, 1);
        large.begin(comm, rank, rank == 0 ? 20 : 1, 1);
        const trefoil_status_t first = trefoil_wait(&small.request);
        const trefoil_status_t second = trefoil_wait(&large.request);
        EXPECT_EQ(first, TREFOIL_ERROR_MISMATCH) << trefoil_last_error(comm);
        EXPECT_EQ(second, TREFOIL_ERROR_MISMATCH) << trefoil_last_error(comm);
        EXPECT_NE(std::string(trefoil_last_error(comm)).find("different calls"), std::string::npos)
            << trefoil_last_error(comm);
    });
}

TEST(RequestMistakes, AForkedChildIsRefused) {
    run_ranks(1, on("1"), [&](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            const bool refused = trefoil_barrier(comm) == TREFOIL_ERROR_INVALID_ARGUMENT;
            _exit(refused ? 0 : 1);
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

}  // namespace
}  // namespace trefoil::test::request_mistakes_test
