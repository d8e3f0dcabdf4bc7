// SPDX-License-Identifier: BSD-3-Clause
// Aborts in rooted calls, before and during a shrink, while communicators are destroyed, and by the
// thread that handles the program's signals.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "abort_job.hpp"

namespace trefoil::test {
namespace {

using std::chrono::milliseconds;

class AbortPhases : public Abort {};

INSTANTIATE_TEST_SUITE_P(Shapes, AbortPhases, all_shapes(), name_of);

/// One that a rank cannot complete without the root, or the root not without the others.
trefoil_status_t rooted_call(trefoil_comm_t comm, int ranks, int root, bool to_all) {
    constexpr std::size_t count = 3000;
    std::vector<int> mine(count, 1), all(to_all ? count : count * static_cast<std::size_t>(ranks));
    return to_all ? trefoil_bcast(mine.data(), count, TREFOIL_INT32, root, comm)
                  : trefoil_gather(mine.data(), all.data(), count, TREFOIL_INT32, root, comm);
}

TEST_P(AbortPhases, ByTheRootOfABcast) {
    Gate gate(ranks());
    run(
        [&](int rank, trefoil_comm_t comm) {
            EXPECT_EQ(rooted_call(comm, ranks(), 2, true), ok) << trefoil_last_error(nullptr);
            gate.pass();
            if (rank == 2) {
                std::this_thread::sleep_for(milliseconds(50));
                EXPECT_EQ(trefoil_comm_abort(comm, "nothing to tell"), ok);
                return;
            }
            EXPECT_EQ(rooted_call(comm, ranks(), 2, true), TREFOIL_ERROR_ABORTED);
        },
        "rank 2 aborted: nothing to tell");
}

// The others may be done with it before they hear of it, the root cannot.
TEST_P(AbortPhases, ByOneOfAGather) {
    Gate gate(ranks());
    run(
        [&](int rank, trefoil_comm_t comm) {
            EXPECT_EQ(rooted_call(comm, ranks(), 0, false), ok) << trefoil_last_error(nullptr);
            gate.pass();
            if (rank == 3) {
                std::this_thread::sleep_for(milliseconds(50));
                EXPECT_EQ(trefoil_comm_abort(comm, "nothing to give"), ok);
                return;
            }
            const trefoil_status_t status = rooted_call(comm, ranks(), 0, false);
            EXPECT_TRUE(status == TREFOIL_ERROR_ABORTED || (rank != 0 && status == ok)) << status;
        },
        "rank 3 aborted: nothing to give");
}

/// The communicator that is left after an abort: all ranks, and it works.
void expect_all(trefoil_comm_t made, int ranks) {
    int size = 0, one = 1, all = 0;
    EXPECT_EQ(trefoil_comm_size(made, &size), ok);
    EXPECT_EQ(size, ranks);
    for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(trefoil_allreduce(&one, &all, 1, TREFOIL_INT32, TREFOIL_SUM, made), ok)
            << trefoil_last_error(made);
        EXPECT_EQ(all, ranks);
    }
}

// One rank has found an error, the others wait in a call for it; then all go on together.
TEST_P(AbortPhases, BeforeAShrinkOfAll) {
    Gate gate(ranks());
    run(
        [&](int rank, trefoil_comm_t comm) {
            sum(comm, ranks());
            gate.pass();
            if (rank == 1) {
                EXPECT_EQ(trefoil_comm_abort(comm, "let us begin anew"), ok);
            } else {
                EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_ABORTED);
            }
            trefoil_comm_t made = nullptr;
            ASSERT_EQ(trefoil_comm_shrink(comm, &made), ok) << trefoil_last_error(nullptr);
            expect_all(made, ranks());
            expect_end(comm, "rank 1 aborted: let us begin anew");
            EXPECT_EQ(trefoil_barrier(made), ok);
            EXPECT_EQ(trefoil_comm_destroy(made), ok);
        },
        "rank 1 aborted: let us begin anew");
}

// The others are in it when a rank aborts the communicator that they shrink, which can be shrunk
// for all that.
TEST_P(AbortPhases, DuringAShrink) {
    for (const bool calls_before : {false, true}) {
        Gate gate(ranks());
        run(
            [&](int rank, trefoil_comm_t comm) {
                if (calls_before) {
                    sum(comm, ranks());
                }
                gate.pass();
                if (rank == 0) {
                    std::this_thread::sleep_for(milliseconds(50));
                    EXPECT_EQ(trefoil_comm_abort(comm, "while they shrink"), ok);
                }
                trefoil_comm_t made = nullptr;
                ASSERT_EQ(trefoil_comm_shrink(comm, &made), ok) << trefoil_last_error(nullptr);
                expect_all(made, ranks());
                expect_end(comm, "rank 0 aborted: while they shrink");
                EXPECT_EQ(trefoil_barrier(made), ok);
                EXPECT_EQ(trefoil_comm_destroy(made), ok);
            },
            "rank 0 aborted: while they shrink");
    }
}

// The new communicator is another one: it ends alone, and by its own text.
TEST_P(AbortPhases, OfTheShrunkOne) {
    Gate gate(ranks());
    run(
        [&](int rank, trefoil_comm_t comm) {
            if (rank == 0) {
                EXPECT_EQ(trefoil_comm_abort(comm, "the first one"), ok);
            }
            trefoil_comm_t made = nullptr;
            ASSERT_EQ(trefoil_comm_shrink(comm, &made), ok) << trefoil_last_error(nullptr);
            expect_all(made, ranks());
            gate.pass();
            if (rank == 3) {
                EXPECT_EQ(trefoil_comm_abort(made, "the second one"), ok);
            }
            expect_end(made, "rank 3 aborted: the second one");
            EXPECT_EQ(trefoil_comm_destroy(made), ok);
        },
        "rank 0 aborted: the first one");
}

// Who has destroyed it hears nothing, the others do, and the communicator that it came from goes
// on.
TEST_P(AbortPhases, WhileOthersDestroyIt) {
    Gate gate(ranks());
    run_ranks(ranks(), on(GetParam().torus, GetParam().port_threads),
              [&](int rank, trefoil_comm_t comm) {
                  ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
                  for (int round = 0; round < 2; ++round) {
                      trefoil_comm_t made = nullptr;
                      ASSERT_EQ(trefoil_comm_dup(comm, &made), ok) << trefoil_last_error(nullptr);
                      sum(made, ranks());
                      gate.pass();
                      if (rank == round % 2) {
                          EXPECT_EQ(trefoil_comm_abort(made, "at its end"), ok);
                          expect_end(made, "rank " + std::to_string(rank) + " aborted: at its end");
                      }
                      EXPECT_EQ(trefoil_comm_destroy(made), ok);
                      sum(comm, ranks());
                  }
              });
}

/// Blocked in all threads that are made meanwhile, so that sigwait() gets it.
class Blocked {
  public:
    Blocked() {
        sigemptyset(&set_);
        sigaddset(&set_, SIGUSR2);
        pthread_sigmask(SIG_BLOCK, &set_, &before_);
    }
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    Blocked(const Blocked&) = delete;
    Blocked& operator=(const Blocked&) = delete;
    int wait() const {
        int signal = 0;
        sigwait(&set_, &signal);
        return signal;
    }

  private:
    sigset_t set_{}, before_{};
};

// The signal comes while the rank waits in a call to which rank 0 does not come.
TEST_P(AbortPhases, ByTheThreadThatHandlesSignals) {
    const Blocked blocked;
    Gate gate(ranks());
    run(
        [&](int rank, trefoil_comm_t comm) {
            sum(comm, ranks());
            gate.pass();
            std::thread signals, sender;
            if (rank == 0) {
                std::this_thread::sleep_for(milliseconds(200));
            }
            if (rank == 1) {
                signals = std::thread([&] {
                    EXPECT_EQ(blocked.wait(), SIGUSR2);
                    EXPECT_EQ(trefoil_comm_abort(comm, "by a signal"), ok);
                });
                sender = std::thread([] {
                    std::this_thread::sleep_for(milliseconds(50));
                    EXPECT_EQ(kill(getpid(), SIGUSR2), 0);
                });
            }
            EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_ABORTED);
            if (rank == 1) {
                signals.join();
                sender.join();
            }
        },
        "rank 1 aborted: by a signal");
}

}  // namespace
}  // namespace trefoil::test
