// SPDX-License-Identifier: BSD-3-Clause
// A call like the one before is not checked again; whatever differs from it is.
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/comm/communicator/thread_job.hpp"
#include "tests/variable.hpp"

namespace trefoil::test::repeated_calls_test {
namespace {

constexpr int ranks = 3;

struct Given {
    std::array<std::int32_t, 16> memory{};
    const void* send = memory.data();
    void* recv = memory.data() + 8;
    std::size_t count = 2;
    trefoil_datatype_t type = TREFOIL_INT32;
    trefoil_op_t op = TREFOIL_SUM;
    int root = 1;
    trefoil_comm_t comm = nullptr;

    trefoil_status_t allreduce() const {
        return trefoil_allreduce(send, recv, count, type, op, comm);
    }
    trefoil_status_t reduce() const {
        return trefoil_reduce(send, recv, count, type, op, root, comm);
    }
};

void expect_sums(Given& given, trefoil_status_t (Given::*call)() const, bool receives) {
    given.memory.fill(7);
    ASSERT_EQ((given.*call)(), TREFOIL_SUCCESS) << trefoil_last_error(nullptr);
    EXPECT_EQ(given.memory[8], receives ? 7 * ranks : 7);
    EXPECT_EQ(given.memory[9], receives ? 7 * ranks : 7);
    EXPECT_EQ(given.memory[10], 7);
}

/// After calls that are right one that differs in one argument is refused, and then the right one
/// is still right.
void expect_refused(const Given& right, const std::function<void(Given&)>& spoil,
                    const std::string& word) {
    for (const auto call : {&Given::allreduce, &Given::reduce}) {
        Given given = right;
        given.send = given.memory.data();
        given.recv = given.memory.data() + 8;
        int rank = 0;
        ASSERT_EQ(trefoil_comm_rank(given.comm, &rank), TREFOIL_SUCCESS);
        const bool receives = call == &Given::allreduce || rank == given.root;
        expect_sums(given, call, receives);
        expect_sums(given, call, receives);
        const Given good = given;
        spoil(given);
        // A rank that is not the root has no receive buffer, and an allreduce no root.
        const bool matters = call == &Given::allreduce ? given.root == good.root
                                                       : receives || given.recv == good.recv;
        if (matters) {
            EXPECT_EQ((given.*call)(), TREFOIL_ERROR_INVALID_ARGUMENT) << word;
            EXPECT_NE(std::string(trefoil_last_error(nullptr)).find(word), std::string::npos)
                << trefoil_last_error(nullptr);
        }
        given.send = good.send, given.recv = good.recv, given.count = good.count;
        given.type = good.type, given.op = good.op, given.root = good.root;
        expect_sums(given, call, receives);
    }
}

TEST(RepeatedCalls, WhatDiffersIsChecked) {
    JobOptions options;
    options.torus = "3";
    run_ranks(ranks, options, [](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        Given right;
        right.comm = comm;
        expect_refused(
            right, [](Given& g) { g.op = static_cast<trefoil_op_t>(99); }, "op 99");
        expect_refused(
            right, [](Given& g) { g.type = static_cast<trefoil_datatype_t>(99); }, "datatype 99");
        expect_refused(
            right, [](Given& g) { g.count = SIZE_MAX / 8; }, "address space");
        expect_refused(
            right, [](Given& g) { g.send = nullptr; }, "NULL");
        expect_refused(
            right, [](Given& g) { g.root = ranks; }, "root");
        expect_refused(
            right, [](Given& g) { g.recv = g.memory.data() + 1; }, "overlap");
    });
}

TEST(RepeatedCalls, OfABcastWhatDiffersIsChecked) {
    JobOptions options;
    options.torus = "3";
    run_ranks(ranks, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        std::array<std::int32_t, 4> data{};
        const auto expect_right = [&](int root, std::size_t count) {
            data.fill(rank);
            ASSERT_EQ(trefoil_bcast(data.data(), count, TREFOIL_INT32, root, comm),
                      TREFOIL_SUCCESS);
            for (std::size_t i = 0; i < data.size(); ++i) {
                EXPECT_EQ(data[i], i < count ? root : rank);
            }
            ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        };
        const auto expect_refused = [&](void* buffer, int type, int root) {
            expect_right(1, 2);
            expect_right(1, 2);
            EXPECT_EQ(trefoil_bcast(buffer, 2, static_cast<trefoil_datatype_t>(type), root, comm),
                      TREFOIL_ERROR_INVALID_ARGUMENT);
        };
        expect_refused(nullptr, TREFOIL_INT32, 1);
        expect_refused(data.data(), 99, 1);
        expect_refused(data.data(), TREFOIL_INT32, ranks);
        expect_right(1, 2);
        expect_right(2, 2);
        expect_right(2, 3);
        expect_right(2, 0);
    });
}

void add(const void* in, void* inout, size_t count, void*) {
    for (std::size_t i = 0; i < count; ++i) {
        static_cast<std::int32_t*>(inout)[i] += static_cast<const std::int32_t*>(in)[i];
    }
}

TEST(RepeatedCalls, AnOperationThatWasFreedIsFound) {
    JobOptions options;
    options.torus = "3";
    run_ranks(ranks, options, [](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        Given given;
        given.comm = comm;
        given.type = TREFOIL_ELEMENT;
        ASSERT_EQ(trefoil_op_create(add, nullptr, sizeof(std::int32_t), 1, &given.op),
                  TREFOIL_SUCCESS);
        expect_sums(given, &Given::allreduce, true);
        expect_sums(given, &Given::allreduce, true);
        ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        ASSERT_EQ(trefoil_op_free(given.op), TREFOIL_SUCCESS);
        EXPECT_EQ(given.allreduce(), TREFOIL_ERROR_INVALID_ARGUMENT);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("freed"), std::string::npos);
    });
}

unsigned long long bytes_sent(trefoil_comm_t comm) {
    unsigned long long bytes = 0;
    for (int port = 0; port < 2; ++port) {
        trefoil_port_t one{};
        one.size = sizeof one;
        EXPECT_EQ(trefoil_comm_port(comm, port, &one), TREFOIL_SUCCESS);
        bytes += one.bytes;
    }
    return bytes;
}

TEST(RepeatedCalls, AnotherAlgorithmIsTaken) {
    JobOptions options;
    options.torus = "3";
    run_ranks(ranks, options, [](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        constexpr std::size_t count = 3 * 128;
        std::vector<float> data(count), sums(count);
        const auto bytes_of_a_call = [&](int again) {
            unsigned long long bytes = 0;
            for (int i = 0; i < again; ++i) {
                const auto before = bytes_sent(comm);
                data.assign(count, 1);
                EXPECT_EQ(trefoil_allreduce(data.data(), sums.data(), count, TREFOIL_FLOAT,
                                            TREFOIL_SUM, comm),
                          TREFOIL_SUCCESS);
                EXPECT_EQ(sums, std::vector<float>(count, ranks));
                bytes = bytes_sent(comm) - before;
            }
            return bytes;
        };
        for (int round = 0; round < 3; ++round) {
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", "ring"), TREFOIL_SUCCESS);
            const auto of_ring = bytes_of_a_call(3);
            EXPECT_EQ(of_ring, 2 * count * sizeof(float) / ranks * (ranks - 1));
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", "trivance-l"), TREFOIL_SUCCESS);
            EXPECT_EQ(bytes_of_a_call(3), 2 * count * sizeof(float));  // the vector to both
        }
    });
}

// Plans that are made meanwhile take the place of the one that is kept.
TEST(RepeatedCalls, APlanThatWasForgottenIsMadeAgain) {
    JobOptions options;
    options.torus = "3";
    const Variable bound("TREFOIL_PLAN_BYTES", "1");
    run_ranks(ranks, options, [](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        Given given;
        given.comm = comm;
        std::vector<std::int32_t> other(64);
        for (std::size_t round = 1; round < other.size(); ++round) {
            expect_sums(given, &Given::allreduce, true);
            expect_sums(given, &Given::allreduce, true);
            trefoil_request_t request = TREFOIL_REQUEST_NULL;
            ASSERT_EQ(trefoil_iallreduce(TREFOIL_IN_PLACE, other.data(), round, TREFOIL_INT32,
                                         TREFOIL_SUM, comm, &request),
                      TREFOIL_SUCCESS);
            expect_sums(given, &Given::allreduce, true);
            ASSERT_EQ(trefoil_wait(&request), TREFOIL_SUCCESS);
            ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        }
    });
}

// A handle that comes again for another communicator, in which the same call means something else.
TEST(RepeatedCalls, AnotherCommunicatorIsAnother) {
    JobOptions options;
    options.torus = "3";
    run_ranks(ranks, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        std::vector<std::int32_t> all(ranks);
        for (int round = 0; round < 40; ++round) {
            trefoil_comm_t turned = nullptr;
            ASSERT_EQ(trefoil_comm_split(comm, 0, round % 2 == 0 ? rank : ranks - rank, &turned),
                      TREFOIL_SUCCESS);
            for (int again = 0; again < 2; ++again) {
                const std::int32_t mine = 10 * round + rank;
                all[static_cast<std::size_t>(round % 2 == 0 ? rank : ranks - 1 - rank)] = mine;
                ASSERT_EQ(trefoil_allgather(TREFOIL_IN_PLACE, all.data(), 1, TREFOIL_INT32, turned),
                          TREFOIL_SUCCESS)
                    << trefoil_last_error(nullptr);
                for (int r = 0; r < ranks; ++r) {
                    EXPECT_EQ(all[static_cast<std::size_t>(r)],
                              10 * round + (round % 2 == 0 ? r : ranks - 1 - r));
                }
                std::int32_t first = mine;
                ASSERT_EQ(trefoil_bcast(&first, 1, TREFOIL_INT32, 0, turned), TREFOIL_SUCCESS);
                EXPECT_EQ(first, 10 * round + (round % 2 == 0 ? 0 : ranks - 1));
                ASSERT_EQ(trefoil_barrier(turned), TREFOIL_SUCCESS) << trefoil_last_error(nullptr);
            }
            ASSERT_EQ(trefoil_comm_destroy(turned), TREFOIL_SUCCESS);
        }
    });
}

// The plan that a handle keeps for its barrier is gone with its communicator. As many plans have
// been made in the new one when it makes its first barrier, so their number does not tell.
TEST(RepeatedCalls, AHandleThatComesAgainForgetsItsBarrier) {
    JobOptions options;
    options.torus = "3";
    run_ranks(ranks, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        constexpr int most = 20;
        const auto make_and_end = [&](int color, const std::function<void(trefoil_comm_t)>& use) {
            trefoil_comm_t part = nullptr;
            ASSERT_EQ(trefoil_comm_split(comm, color, 0, &part), TREFOIL_SUCCESS);
            use(part);
            ASSERT_EQ(trefoil_comm_destroy(part), TREFOIL_SUCCESS);
        };
        for (int i = 0; i < most; ++i) {
            make_and_end(
                0, [](trefoil_comm_t part) { ASSERT_EQ(trefoil_barrier(part), TREFOIL_SUCCESS); });
        }
        // Handles are used again once all ranks together have destroyed 1024.
        for (int i = 0; i < 1024 / ranks - most; ++i) {
            make_and_end(rank, [](trefoil_comm_t) {});
        }
        for (int i = 0; i < most; ++i) {
            make_and_end(0, [&](trefoil_comm_t part) {
                std::array<std::int32_t, 3> all{};
                all[static_cast<std::size_t>(rank)] = rank;
                ASSERT_EQ(trefoil_allgather(TREFOIL_IN_PLACE, all.data(), 1, TREFOIL_INT32, part),
                          TREFOIL_SUCCESS);
                ASSERT_EQ(trefoil_barrier(part), TREFOIL_SUCCESS) << trefoil_last_error(nullptr);
                EXPECT_EQ(all, (std::array<std::int32_t, 3>{0, 1, 2}));
            });
        }
    });
}

}  // namespace
}  // namespace trefoil::test::repeated_calls_test
