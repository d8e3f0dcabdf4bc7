// SPDX-License-Identifier: BSD-3-Clause
// Processes are killed, and the others go on without them.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "process_job.hpp"
#include "random_calls.hpp"
#include "tests/backend/registry/transports_to_test.hpp"

namespace trefoil::test {
namespace {

constexpr trefoil_status_t ok = TREFOIL_SUCCESS;

/// What a rank ends with when something is wrong; 0: nothing is.
int wrong(const char* what, trefoil_comm_t comm) {
    fprintf(stderr, "process %d: %s: %s; %s\n", static_cast<int>(getpid()), what,
            trefoil_last_error(nullptr), comm != nullptr ? trefoil_last_error(comm) : "");
    return 1;
}

std::string torus_of(trefoil_comm_t comm) {
    int dimensions = 0, sizes[16] = {};
    (void)trefoil_comm_torus(comm, &dimensions, sizes, 16);
    return Torus(std::vector<Rank>(sizes, sizes + dimensions)).name();
}

/// So many calls with results that are known. "" or what is wrong.
std::string checked_calls(trefoil_comm_t comm, int calls, unsigned seed) {
    int ranks = 0;
    (void)trefoil_comm_size(comm, &ranks);
    std::mt19937 shared(seed);
    std::vector<NamedAlgorithm> names = algorithms_for(Torus::parse(torus_of(comm)));
    const char* backend = "";
    (void)trefoil_comm_transport(comm, &backend, nullptr);
    if (backend != std::string("memory")) {
        std::erase_if(names, [](const NamedAlgorithm& one) { return one.name == "single-copy"; });
    }
    for (int call = 0; call < calls;) {
        const CollectiveCase drawn = draw(shared, names, ranks);
        if (drawn.collective == Collective::scan || drawn.collective == Collective::exscan) {
            continue;  // a logical shape may have the ranks in another order
        }
        ++call;
        const std::string told = check_collective(comm, drawn);
        if (!told.empty()) {
            return "call " + std::to_string(call) + ", " + describe(drawn) + ": " + told;
        }
    }
    return "";
}

/// The ranks that its ranks had at first.
bool consists_of(trefoil_comm_t comm, int first_rank, const std::vector<int>& expected) {
    int ranks = 0;
    if (trefoil_comm_size(comm, &ranks) != ok || ranks != static_cast<int>(expected.size())) {
        return false;
    }
    std::vector<int> all(expected.size(), -1);
    return trefoil_allgather(&first_rank, all.data(), 1, TREFOIL_INT32, comm) == ok &&
           all == expected;
}

enum class Last { barrier, large, in_flight };

/// The last call on a communicator of which ranks have died. It fails.
trefoil_status_t last_call(trefoil_comm_t comm, Last what) {
    if (what == Last::barrier) {
        return trefoil_barrier(comm);
    }
    std::vector<double> in(300'000, 1.0), out(in.size());
    if (what == Last::large) {
        return trefoil_allreduce(in.data(), out.data(), in.size(), TREFOIL_DOUBLE, TREFOIL_SUM,
                                 comm);
    }
    // Begun, and shrunk before it is waited for.
    trefoil_request_t request = TREFOIL_REQUEST_NULL;
    (void)trefoil_iallreduce(in.data(), out.data(), in.size(), TREFOIL_DOUBLE, TREFOIL_SUM, comm,
                             &request);
    trefoil_comm_t made = nullptr;
    (void)trefoil_comm_shrink(comm, &made);
    const trefoil_status_t status = trefoil_wait(&request);
    (void)trefoil_comm_destroy(made);
    return status;
}

/// Whoever dies in each round, by their first ranks.
using Rounds = std::vector<std::set<int>>;

struct Plan {
    Rounds rounds;
    int calls = 30;
    Last last = Last::barrier;
    bool destroy_first = false;
};

int live(int rank, int ranks, trefoil_comm_t first, const Plan& plan) {
    std::vector<int> alive(static_cast<std::size_t>(ranks));
    std::iota(alive.begin(), alive.end(), 0);
    trefoil_comm_t comm = first;
    unsigned seed = 1;
    if (const std::string told = checked_calls(comm, plan.calls / 3, seed); !told.empty()) {
        return wrong(told.c_str(), comm);
    }
    for (const std::set<int>& dying : plan.rounds) {
        (void)trefoil_barrier(comm);  // who dies first may have more to send
        if (dying.contains(rank)) {
            raise(SIGKILL);
        }
        std::erase_if(alive, [&](int one) { return dying.contains(one); });
        if (last_call(comm, plan.last) == ok) {
            return wrong("a call without the dead succeeded", comm);
        }
        trefoil_comm_t made = nullptr;
        const auto begun = Clock::now();
        if (trefoil_comm_shrink(comm, &made) != ok) {
            return wrong("shrink", comm);
        }
        if (Clock::now() - begun > std::chrono::seconds(8)) {
            return wrong("shrink took too long", comm);
        }
        if (comm != first && trefoil_comm_destroy(comm) != ok) {
            return wrong("the failed one cannot be destroyed", nullptr);
        }
        comm = made;
        if (!consists_of(comm, rank, alive)) {
            return wrong("others are left than should be", comm);
        }
        if (const std::string told = checked_calls(comm, plan.calls, ++seed); !told.empty()) {
            return wrong(told.c_str(), comm);
        }
    }
    const bool together = trefoil_barrier(comm) == ok;
    return together && (comm == first || trefoil_comm_destroy(comm) == ok) ? 0
                                                                           : wrong("the end", comm);
}

struct Case {
    std::string backend, torus;
};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const std::string& backend : backends_to_test()) {
        for (const char* const torus : {"3x3", "2x2x2"}) {
            all.push_back({backend, torus});
        }
    }
    return all;
}

class Shrink : public testing::TestWithParam<Case> {
  protected:
    int ranks() const { return GetParam().torus == "3x3" ? 9 : 8; }

    void go_on_after(const Plan& plan, std::chrono::seconds longest = std::chrono::seconds(60)) {
        const int all = ranks();
        const Job job =
            start(all, GetParam().torus.c_str(), GetParam().backend.c_str(),
                  [&](int rank, trefoil_comm_t comm) { return live(rank, all, comm, plan); });
        finish_all(job, longest, [&](int rank) {
            return std::any_of(plan.rounds.begin(), plan.rounds.end(),
                               [&](const std::set<int>& dying) { return dying.contains(rank); });
        });
    }
    template <typename Dies>
    void finish_all(const Job& job, std::chrono::seconds longest, Dies&& dies) {
        const StoreServer store;
        job.meet_at(store.port());
        // All at the same time: whoever dies is reaped at once, as by a launcher.
        const auto deadline = Clock::now() + longest;
        std::vector<int> codes(job.pids.size());
        std::vector<std::thread> threads;
        for (std::size_t r = 0; r < job.pids.size(); ++r) {
            threads.emplace_back([&, r] { codes[r] = finish(job.pids[r], deadline); });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        for (std::size_t r = 0; r < codes.size(); ++r) {
            EXPECT_EQ(codes[r], dies(static_cast<int>(r)) ? -SIGKILL : 0) << "rank " << r;
        }
    }
    Rounds one_two_half() const {
        return ranks() == 9 ? Rounds{{4}, {0, 8}, {1, 2, 3}} : Rounds{{5}, {0, 6}, {1, 2}};
    }
};

INSTANTIATE_TEST_SUITE_P(Transports, Shrink, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& one) {
                             return one.param.backend + one.param.torus;
                         });

TEST_P(Shrink, AfterOneHasDied) {
    go_on_after({.rounds = {{ranks() - 2}}});
}

TEST_P(Shrink, AfterRankZeroHasDiedInALargeCall) {
    go_on_after({.rounds = {{0}}, .last = Last::large});
}

TEST_P(Shrink, AfterTwoHaveDied) {
    go_on_after({.rounds = {{1, 2}}});
}

TEST_P(Shrink, AfterHalfHaveDied) {
    go_on_after({.rounds = {{0, 2, 5, 7}}, .last = Last::large});
}

TEST_P(Shrink, UntilTwoAndThenOneAreLeft) {
    Rounds rounds;
    for (int rank = 0; rank < ranks() - 1; ++rank) {
        rounds.push_back({rank});
    }
    go_on_after({.rounds = rounds, .calls = 6}, std::chrono::seconds(100));
}

TEST_P(Shrink, AgainAndAgainALong) {
    go_on_after({.rounds = one_two_half(), .calls = 1000, .last = Last::large},
                std::chrono::seconds(600));
}

TEST_P(Shrink, WithALargeCallInFlight) {
    const int all = ranks();
    const Job job = start(all, GetParam().torus.c_str(), GetParam().backend.c_str(),
                          [&](int rank, trefoil_comm_t comm) {
                              if (trefoil_barrier(comm) != ok) {
                                  return wrong("the first barrier", comm);
                              }
                              if (rank == 3) {
                                  raise(SIGKILL);
                              }
                              return last_call(comm, Last::in_flight) == TREFOIL_ERROR_PEER_LOST
                                         ? 0
                                         : wrong("the call in flight did not end so", comm);
                          });
    finish_all(job, std::chrono::seconds(60), [](int rank) { return rank == 3; });
}

// Where nobody is dead it is a duplicate.
TEST_P(Shrink, OfOneThatIsWell) {
    const int all = ranks();
    const Job job =
        start(all, GetParam().torus.c_str(), GetParam().backend.c_str(),
              [&](int rank, trefoil_comm_t comm) {
                  std::vector<int> alive(static_cast<std::size_t>(all));
                  std::iota(alive.begin(), alive.end(), 0);
                  trefoil_comm_t made = nullptr;
                  if (trefoil_comm_shrink(comm, &made) != ok || !consists_of(made, rank, alive) ||
                      torus_of(made) != torus_of(comm)) {
                      return wrong("shrink of all", comm);
                  }
                  if (!checked_calls(made, 10, 3).empty() || !checked_calls(comm, 10, 4).empty()) {
                      return wrong("a call afterwards", made);
                  }
                  (void)trefoil_barrier(comm);
                  return trefoil_comm_destroy(made) == ok ? 0 : 2;
              });
    finish_all(job, std::chrono::seconds(60), [](int) { return false; });
}

// Others die while the survivors of the first death agree.
TEST_P(Shrink, WhileMoreDie) {
    constexpr int rounds = 4;
    for (int round = 0; round < rounds; ++round) {
        const int all = ranks();
        const Job job = start(
            all, GetParam().torus.c_str(), GetParam().backend.c_str(),
            [&](int rank, trefoil_comm_t comm) {
                if (trefoil_barrier(comm) != ok) {
                    return wrong("the first barrier", comm);
                }
                if (rank == 4) {
                    raise(SIGKILL);
                }
                (void)trefoil_barrier(comm);
                std::thread death([&] {
                    if (rank == 1 || rank == 7) {
                        std::this_thread::sleep_for(
                            std::chrono::microseconds(400 * round * (rank == 1 ? 1 : 3)));
                        raise(SIGKILL);
                    }
                });
                // As often as it takes: those who are to die may still be in the next one.
                const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
                while (std::chrono::steady_clock::now() < deadline) {
                    trefoil_comm_t made = nullptr;
                    if (trefoil_comm_shrink(comm, &made) != ok) {
                        return wrong("shrink while others die", comm);
                    }
                    comm = made;
                    int one = 1, sum = 0;
                    if (trefoil_allreduce(&one, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm) == ok &&
                        sum == all - 3 && trefoil_barrier(comm) == ok) {
                        death.join();
                        return 0;
                    }
                }
                death.detach();
                return wrong("no communicator of the living", comm);
            });
        finish_all(job, std::chrono::seconds(60),
                   [](int rank) { return rank == 4 || rank == 1 || rank == 7; });
    }
}

// A rank that never comes counts as dead, and hears so when it does.
TEST(ShrinkMistakes, WhoComesTooLateIsLeftOut) {
    const Job job = start(3, "3", "memory",
                          [](int rank, trefoil_comm_t comm) {
                              if (trefoil_barrier(comm) != ok) {
                                  return wrong("the first barrier", comm);
                              }
                              if (rank == 2) {
                                  std::this_thread::sleep_for(std::chrono::seconds(6));
                              }
                              trefoil_comm_t made = nullptr;
                              const trefoil_status_t status = trefoil_comm_shrink(comm, &made);
                              if (rank == 2) {
                                  return status == TREFOIL_ERROR_PEER_LOST && made == nullptr
                                             ? 0
                                             : wrong("late", comm);
                              }
                              if (status != ok || !consists_of(made, rank, {0, 1})) {
                                  return wrong("without the late one", comm);
                              }
                              if (trefoil_barrier(comm) != TREFOIL_ERROR_PEER_LOST) {
                                  return wrong("the first one goes on", comm);
                              }
                              std::this_thread::sleep_for(std::chrono::seconds(5));
                              (void)trefoil_barrier(made);
                              return trefoil_comm_destroy(made) == ok ? 0 : 2;
                          },
                          {{"TREFOIL_TIMEOUT", "2"}});
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + std::chrono::seconds(40);
    for (const pid_t pid : job.pids) {
        EXPECT_EQ(finish(pid, deadline), 0);
    }
}

TEST(ShrinkMistakes, AreRefusedInWords) {
    trefoil_comm_t made = nullptr;
    EXPECT_EQ(trefoil_comm_shrink(nullptr, &made), TREFOIL_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(trefoil_last_error(nullptr)), "the communicator is NULL");
}

}  // namespace
}  // namespace trefoil::test
