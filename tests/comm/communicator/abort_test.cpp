// SPDX-License-Identifier: BSD-3-Clause
// A rank ends a communicator: whatever the others are doing, all end with its text.
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "sum_in_flight.hpp"

namespace trefoil::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Far below the time-out of 20 s, which would end the calls, too.
constexpr seconds soon{10};

struct Shape {
    const char* torus;
    int ranks;
    int port_threads;
};

std::string name_of(const testing::TestParamInfo<Shape>& info) {
    return std::string("On") + info.param.torus + (info.param.port_threads > 0 ? "Threads" : "");
}

/// Returns at the same time on all ranks, outside Trefoil.
class Gate {
  public:
    explicit Gate(int ranks) : ranks_(ranks) {}
    void pass() {
        const int mine = ++arrived_, all = (mine + ranks_ - 1) / ranks_ * ranks_;
        const auto deadline = Clock::now() + seconds(20);
        while (arrived_ < all && Clock::now() < deadline) {
            std::this_thread::sleep_for(milliseconds(1));
        }
    }

  private:
    int ranks_;
    std::atomic<int> arrived_{0};
};

class Abort : public testing::TestWithParam<Shape> {
  protected:
    int ranks() const { return GetParam().ranks; }
    /// body(rank, comm) on all ranks, and then the communicator has ended with this text.
    void run(const std::function<void(int, trefoil_comm_t)>& body, const std::string& expected) {
        run_ranks(ranks(), on(GetParam().torus, GetParam().port_threads),
                  [&](int rank, trefoil_comm_t comm) {
                      ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
                      body(rank, comm);
                      expect_end(comm, expected);
                  });
    }
    /// body(rank, comm) begins at the same time on all ranks, and all end with one text.
    void one_text(const std::function<void(int, trefoil_comm_t)>& body) {
        Gate gate(ranks());
        std::mutex mutex;
        std::set<std::string> texts;
        run_ranks(ranks(), on(GetParam().torus, GetParam().port_threads),
                  [&](int rank, trefoil_comm_t comm) {
                      ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
                      sum(comm, ranks());
                      gate.pass();
                      body(rank, comm);
                      EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_ABORTED);
                      const std::lock_guard lock(mutex);
                      texts.insert(trefoil_last_error(comm));
                  });
        EXPECT_EQ(texts.size(), 1U) << *texts.begin() << "; " << *texts.rbegin();
    }
    static void expect_end(trefoil_comm_t comm, const std::string& expected) {
        int one = 1, sum = 0;
        const auto begun = Clock::now();
        EXPECT_EQ(trefoil_allreduce(&one, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm),
                  TREFOIL_ERROR_ABORTED);
        EXPECT_EQ(std::string(trefoil_last_error(nullptr)), expected);
        EXPECT_EQ(std::string(trefoil_last_error(comm)), expected);
        EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_ABORTED);
        EXPECT_EQ(trefoil_allreduce(&one, &sum, 0, TREFOIL_INT32, TREFOIL_SUM, comm),
                  TREFOIL_ERROR_ABORTED);
        trefoil_comm_t made = comm;
        EXPECT_EQ(trefoil_comm_dup(comm, &made), TREFOIL_ERROR_ABORTED);
        EXPECT_EQ(made, nullptr);
        EXPECT_LT(Clock::now() - begun, soon);
    }
    static void sum(trefoil_comm_t comm, int ranks) {
        int one = 1, all = 0;
        EXPECT_EQ(trefoil_allreduce(&one, &all, 1, TREFOIL_INT32, TREFOIL_SUM, comm), ok)
            << trefoil_last_error(nullptr);
        EXPECT_EQ(all, ranks);
    }
};

INSTANTIATE_TEST_SUITE_P(Shapes, Abort,
                         testing::Values(Shape{"2x2", 4, -1}, Shape{"3x3", 9, -1},
                                         Shape{"2x2", 4, 2}),
                         name_of);

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
                EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_ABORTED);
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
