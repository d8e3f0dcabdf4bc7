// SPDX-License-Identifier: BSD-3-Clause
// Processes are killed, and the others go on without them.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "shrink_calls.hpp"
#include "tests/backend/registry/transports_to_test.hpp"

namespace trefoil::test {
namespace {

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

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const std::string& backend : backends_to_test()) {
        for (const char* const torus : {"3x3", "2x2x2"}) {
            all.push_back({backend + torus, backend, torus});
        }
    }
    return all;
}

/// What else a backend runs over; and ports with threads of their own.
std::vector<Case> more_cases() {
    const std::string threads = "TREFOIL_PORT_THREADS", provider = "TREFOIL_PROVIDER";
    std::vector<Case> all{
        {"memory_threads", "memory", "3x3", {{threads, "2"}}},
        {"ucx_posix", "ucx", "3x3", {{"UCX_TLS", "posix"}}},
        {"ucx_posix_threads", "ucx", "3x3", {{"UCX_TLS", "posix"}, {threads, "2"}}},
    };
    std::erase_if(all, [](const Case& one) { return !is_built(one.backend); });
    return all;
}

class Shrink : public testing::TestWithParam<Case> {
  protected:
    int ranks() const { return GetParam().torus == "3x3" ? 9 : 8; }

    void go_on_after(const Plan& plan, std::chrono::seconds longest = std::chrono::seconds(60)) {
        const int all = ranks();
        const Job job =
            start_all([&](int rank, trefoil_comm_t comm) { return live(rank, all, comm, plan); });
        finish_all(job, longest, [&](int rank) {
            return std::any_of(plan.rounds.begin(), plan.rounds.end(),
                               [&](const std::set<int>& dying) { return dying.contains(rank); });
        });
    }
    Job start_all(const std::function<int(int, trefoil_comm_t)>& body) {
        return start(GetParam(), ranks(), body);
    }
    template <typename Dies>
    void finish_all(const Job& job, std::chrono::seconds longest, Dies&& dies) {
        const std::vector<int> codes = codes_of(job, longest);
        for (std::size_t r = 0; r < codes.size(); ++r) {
            EXPECT_EQ(codes[r], dies(static_cast<int>(r)) ? -SIGKILL : 0) << "rank " << r;
        }
    }
    /// One, two and exactly half of the living die, in some order, until two are left.
    Rounds until_two_are_left() const {
        return ranks() == 9 ? Rounds{{4}, {0, 8}, {1, 2, 3}, {6}} : Rounds{{0, 6}, {1, 2, 5}, {4}};
    }
};

INSTANTIATE_TEST_SUITE_P(Transports, Shrink, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& one) { return one.param.name; });
INSTANTIATE_TEST_SUITE_P(More, Shrink, testing::ValuesIn(more_cases()),
                         [](const testing::TestParamInfo<Case>& one) { return one.param.name; });

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
    go_on_after({.rounds = until_two_are_left(), .calls = 1000, .last = Last::large},
                std::chrono::seconds(600));
}

TEST_P(Shrink, WithALargeCallInFlight) {
    const Job job = start_all([&](int rank, trefoil_comm_t comm) {
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
    const Job job = start_all([&](int rank, trefoil_comm_t comm) {
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
        const Job job = start_all([&](int rank, trefoil_comm_t comm) {
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
