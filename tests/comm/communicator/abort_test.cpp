// SPDX-License-Identifier: BSD-3-Clause
// A rank ends a communicator: whatever the others are doing, all end with its text.
#include <chrono>
#include <thread>

#include "abort_job.hpp"

namespace trefoil::test {
namespace {

using std::chrono::milliseconds;

INSTANTIATE_TEST_SUITE_P(Shapes, Abort, all_shapes(), name_of);

TEST_P(Abort, EndsABlockingCallInWhichTheOthersWait) {
    for (const std::size_t count : {1UL, 300'000UL}) {
        run(
            [&](int rank, trefoil_comm_t comm) {
                sum(comm, ranks());
                if (rank == 1) {
                    std::this_thread::sleep_for(milliseconds(100));
                    EXPECT_EQ(trefoil_comm_abort(comm, "no number"), ok);
                    return;
                }
                std::vector<double> in(count, 1.0), out(count);
                EXPECT_EQ(trefoil_allreduce(in.data(), out.data(), count, TREFOIL_DOUBLE,
                                            TREFOIL_SUM, comm),
                          TREFOIL_ERROR_ABORTED);
                EXPECT_EQ(std::string(trefoil_last_error(nullptr)), "rank 1 aborted: no number");
            },
            "rank 1 aborted: no number");
    }
}

TEST_P(Abort, EndsCallsInFlight) {
    Gate all_have_begun(ranks());
    run(
        [&](int rank, trefoil_comm_t comm) {
            Sum small, large;
            if (rank != 0) {
                small.begin(comm, rank, 4, 3);
                large.begin(comm, rank, 200'000, 5);
            }
            all_have_begun.pass();
            if (rank == 0) {
                std::this_thread::sleep_for(milliseconds(50));
                EXPECT_EQ(trefoil_comm_abort(comm, "in flight"), ok);
                return;
            }
            trefoil_request_t both[] = {large.request, small.request};
            EXPECT_EQ(trefoil_wait(&both[0]), TREFOIL_ERROR_ABORTED);
            EXPECT_EQ(std::string(trefoil_last_error(nullptr)), "rank 0 aborted: in flight");
            EXPECT_EQ(trefoil_wait(&both[1]), TREFOIL_ERROR_ABORTED);
            int calls = -1;
            EXPECT_EQ(trefoil_comm_in_flight(comm, &calls), ok);
            EXPECT_EQ(calls, 0);
        },
        "rank 0 aborted: in flight");
}

// The rank that aborts has calls in flight, too.
TEST_P(Abort, EndsItsOwnCalls) {
    Gate all_have_begun(ranks());
    run(
        [&](int rank, trefoil_comm_t comm) {
            Sum sum;
            if (rank != 0) {
                sum.begin(comm, rank, 5000, 3);
            }
            all_have_begun.pass();
            if (rank == 2) {
                EXPECT_EQ(trefoil_comm_abort(comm, "my own"), ok);
            }
            if (rank != 0) {
                EXPECT_EQ(trefoil_wait(&sum.request), TREFOIL_ERROR_ABORTED);
            }
        },
        "rank 2 aborted: my own");
}

TEST_P(Abort, EndsPersistentCalls) {
    Gate gate(ranks());
    run(
        [&](int rank, trefoil_comm_t comm) {
            Sum sum;
            sum.fill(rank, 20'000, 7);
            ASSERT_EQ(trefoil_allreduce_init(sum.send.data(), sum.recv.data(), sum.send.size(),
                                             TREFOIL_INT64, TREFOIL_SUM, comm, &sum.request),
                      ok);
            for (int i = 0; i < 3; ++i) {
                EXPECT_EQ(trefoil_start(&sum.request), ok);
                EXPECT_EQ(trefoil_wait(&sum.request), ok) << trefoil_last_error(nullptr);
            }
            EXPECT_TRUE(sum.right(ranks(), 7));
            gate.pass();
            if (rank == 3) {
                EXPECT_EQ(trefoil_comm_abort(comm, "persistent"), ok);
            } else if (trefoil_start(&sum.request) == ok) {
                EXPECT_EQ(trefoil_wait(&sum.request), TREFOIL_ERROR_ABORTED);
            }
            EXPECT_EQ(trefoil_start(&sum.request), TREFOIL_ERROR_ABORTED);
            EXPECT_EQ(trefoil_request_free(&sum.request), ok);
        },
        "rank 3 aborted: persistent");
}

TEST_P(Abort, BetweenCallsAndBeforeTheFirst) {
    for (const int calls : {0, 3}) {
        Gate gate(ranks());
        run(
            [&](int rank, trefoil_comm_t comm) {
                for (int i = 0; i < calls; ++i) {
                    sum(comm, ranks());
                }
                gate.pass();
                if (rank == 0) {
                    EXPECT_EQ(trefoil_comm_abort(comm, nullptr), ok);
                }
                gate.pass();
            },
            "rank 0 aborted");
    }
}

TEST_P(Abort, ByAnotherThreadOfARankThatWaits) {
    run(
        [&](int rank, trefoil_comm_t comm) {
            sum(comm, ranks());
            std::thread other([&] {
                if (rank == 1) {
                    std::this_thread::sleep_for(milliseconds(100));
                    EXPECT_EQ(trefoil_comm_abort(comm, "from a thread"), ok);
                }
            });
            if (rank != 0) {  // rank 0 does not come
                EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_ABORTED);
            } else {
                std::this_thread::sleep_for(milliseconds(400));
                // The others' messages may be seen before the word is: one success, no second.
                if (trefoil_barrier(comm) == ok) {
                    EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_ABORTED);
                }
            }
            other.join();
        },
        "rank 1 aborted: from a thread");
}

// While calls are made as fast as can be: some succeed, and then all fail.
TEST_P(Abort, ByAnotherThreadWhileCallsGoOn) {
    for (int round = 0; round < 5; ++round) {
        run(
            [&](int rank, trefoil_comm_t comm) {
                std::thread other([&] {
                    if (rank == 1) {
                        std::this_thread::sleep_for(milliseconds(20 * round));
                        EXPECT_EQ(trefoil_comm_abort(comm, "on the way"), ok);
                    }
                });
                trefoil_status_t status = ok;
                const auto begun = Clock::now();
                for (int i = 0; status == ok && Clock::now() - begun < soon; ++i) {
                    std::vector<int> in(i % 3 == 0 ? 1 : 5000, rank), out(in.size());
                    if (i % 2 == 0) {
                        status = trefoil_allreduce(in.data(), out.data(), in.size(), TREFOIL_INT32,
                                                   TREFOIL_SUM, comm);
                    } else {
                        trefoil_request_t request = TREFOIL_REQUEST_NULL;
                        status = trefoil_iallreduce(in.data(), out.data(), in.size(), TREFOIL_INT32,
                                                    TREFOIL_SUM, comm, &request);
                        status = status == ok ? trefoil_wait(&request) : status;
                    }
                    if (status == ok) {
                        EXPECT_EQ(out.back(), ranks() * (ranks() - 1) / 2);
                    }
                }
                EXPECT_EQ(status, TREFOIL_ERROR_ABORTED);
                other.join();
            },
            "rank 1 aborted: on the way");
    }
}

TEST_P(Abort, EndsACreation) {
    for (const bool calls_before : {false, true}) {
        run(
            [&](int rank, trefoil_comm_t comm) {
                if (calls_before) {
                    sum(comm, ranks());
                }
                if (rank == 0) {
                    std::this_thread::sleep_for(milliseconds(100));
                    EXPECT_EQ(trefoil_comm_abort(comm, "none is made"), ok);
                    return;
                }
                trefoil_comm_t made = comm;
                const auto begun = Clock::now();
                EXPECT_EQ(rank % 2 == 0 ? trefoil_comm_dup(comm, &made)
                                        : trefoil_comm_split(comm, 0, 0, &made),
                          TREFOIL_ERROR_ABORTED);
                EXPECT_EQ(made, nullptr);
                EXPECT_EQ(std::string(trefoil_last_error(nullptr)), "rank 0 aborted: none is made");
                EXPECT_LT(Clock::now() - begun, soon);
            },
            "rank 0 aborted: none is made");
    }
}

// All have one text, of either of them.
TEST_P(Abort, ByTwoRanksAtOnce) {
    for (const bool in_calls : {false, true}) {
        one_text([&](int rank, trefoil_comm_t comm) {
            if (rank == 1 || rank == ranks() - 1) {
                EXPECT_EQ(trefoil_comm_abort(comm, "twice"), ok);
            } else if (in_calls) {
                EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_ABORTED);
            }
        });
    }
}

TEST_P(Abort, OfAllRanksAtOnce) {
    for (int round = 0; round < 5; ++round) {
        one_text(
            [&](int, trefoil_comm_t comm) { EXPECT_EQ(trefoil_comm_abort(comm, "by all"), ok); });
    }
}

// The second one is told of the first and does not change its text.
TEST_P(Abort, TheFirstOfTwoStands) {
    Gate gate(ranks());
    run(
        [&](int rank, trefoil_comm_t comm) {
            sum(comm, ranks());
            gate.pass();
            if (rank == 2) {
                EXPECT_EQ(trefoil_comm_abort(comm, "the first"), ok);
            } else if (rank != 0) {
                EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_ABORTED);
            }
            gate.pass();
            if (rank == 0) {
                EXPECT_EQ(trefoil_comm_abort(comm, "the second"), ok);
            }
        },
        "rank 2 aborted: the first");
}

TEST_P(Abort, LeavesOtherCommunicatorsAlone) {
    run_ranks(ranks(), on(GetParam().torus, GetParam().port_threads),
              [&](int rank, trefoil_comm_t comm) {
                  ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
                  trefoil_comm_t made = nullptr, of_it = nullptr;
                  ASSERT_EQ(trefoil_comm_dup(comm, &made), ok) << trefoil_last_error(nullptr);
                  ASSERT_EQ(trefoil_comm_dup(made, &of_it), ok) << trefoil_last_error(nullptr);
                  ASSERT_EQ(trefoil_barrier(comm), ok);  // all have made theirs
                  Sum before;
                  before.begin(comm, rank, 50'000, 3);
                  if (rank == 1) {
                      EXPECT_EQ(trefoil_comm_abort(made, "only this"), ok);
                  }
                  EXPECT_EQ(trefoil_barrier(made), TREFOIL_ERROR_ABORTED);
                  EXPECT_EQ(trefoil_wait(&before.request), ok) << trefoil_last_error(nullptr);
                  EXPECT_TRUE(before.right(ranks(), 3));
                  for (int i = 0; i < 20; ++i) {
                      sum(comm, ranks());
                      sum(of_it, ranks());
                  }
                  expect_end(made, "rank 1 aborted: only this");
                  EXPECT_EQ(trefoil_comm_destroy(made), ok);
                  trefoil_comm_t again = nullptr;
                  ASSERT_EQ(trefoil_comm_dup(comm, &again), ok) << trefoil_last_error(nullptr);
                  sum(again, ranks());
                  EXPECT_EQ(trefoil_barrier(comm), ok) << trefoil_last_error(nullptr);
                  EXPECT_EQ(trefoil_comm_destroy(of_it), ok);
                  EXPECT_EQ(trefoil_comm_destroy(again), ok);
              });
}

}  // namespace
}  // namespace trefoil::test
