// SPDX-License-Identifier: BSD-3-Clause
// Aborts between processes: by the thread that handles signals, by two at once, and before a
// shrink.
#include <pthread.h>
#include <signal.h>

#include <set>

#include "shrink_calls.hpp"
#include "tests/backend/registry/transports_to_test.hpp"

namespace trefoil::test {
namespace {

class AbortProcesses : public testing::TestWithParam<std::string> {
  protected:
    /// 0 from all ranks but those that die.
    static void run(int ranks, const char* torus,
                    const std::function<int(int, trefoil_comm_t)>& body,
                    const std::set<int>& dying = {}, const std::function<bool(int)>& before = {}) {
        const Job job = start(ranks, torus, GetParam().c_str(), body, {}, before);
        const std::vector<int> codes = codes_of(job, std::chrono::seconds(90));
        for (int r = 0; r < ranks; ++r) {
            EXPECT_EQ(codes[static_cast<std::size_t>(r)], dying.contains(r) ? -SIGKILL : 0)
                << "rank " << r;
        }
    }
};

INSTANTIATE_TEST_SUITE_P(Backends, AbortProcesses, testing::ValuesIn(backends_to_test()),
                         [](const testing::TestParamInfo<std::string>& one) { return one.param; });

/// All further calls fail with this text.
bool has_ended(trefoil_comm_t comm, const std::string& expected) {
    int one = 1, sum = 0;
    return trefoil_allreduce(&one, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm) ==
               TREFOIL_ERROR_ABORTED &&
           trefoil_barrier(comm) == TREFOIL_ERROR_ABORTED && trefoil_last_error(comm) == expected;
}

sigset_t terminate() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    return set;
}

// As a program does that is told to end: a thread waits for SIGTERM, which all others have blocked.
TEST_P(AbortProcesses, ByTheThreadThatHandlesSignals) {
    run(
        4, "2x2",
        [](int rank, trefoil_comm_t comm) {
            if (!checked_calls(comm, 5, 1).empty()) {
                return wrong("the first calls", comm);
            }
            std::thread signals;
            if (rank == 2) {
                signals = std::thread([comm] {
                    const sigset_t set = terminate();
                    int signal = 0;
                    (void)sigwait(&set, &signal);
                    (void)trefoil_comm_abort(comm, "told to end");
                });
                std::thread([] {
                    std::this_thread::sleep_for(std::chrono::milliseconds(100));
                    (void)kill(getpid(), SIGTERM);
                }).detach();
            }
            std::vector<double> data(100'000, 1.0);
            trefoil_status_t status = ok;
            const auto deadline = Clock::now() + std::chrono::seconds(10);
            while (status == ok && Clock::now() < deadline) {
                status = trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), data.size(),
                                           TREFOIL_DOUBLE, TREFOIL_MAX, comm);
            }
            if (signals.joinable()) {
                signals.join();
            }
            return has_ended(comm, "rank 2 aborted: told to end") ? 0 : wrong("the end", comm);
        },
        {},
        [](int) {
            const sigset_t set = terminate();
            return pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0;
        });
}

/// Ranks 0 and 3 of four end a duplicate at once. "" or what is wrong; `alike`: all have one text.
/// The communicator that it came from brings the texts together.
std::string end_by_two(int rank, trefoil_comm_t comm, bool& alike) {
    trefoil_comm_t to_end = nullptr;
    if (trefoil_comm_dup(comm, &to_end) != ok || !checked_calls(to_end, 3, 1).empty() ||
        trefoil_barrier(comm) != ok) {
        return "the beginning";
    }
    if (rank == 0 || rank == 3) {
        (void)trefoil_comm_abort(to_end, "twice");
    }
    if (trefoil_barrier(to_end) != TREFOIL_ERROR_ABORTED) {
        return "it goes on";
    }
    char mine[64] = {}, all[4][64] = {};
    snprintf(mine, sizeof mine, "%s", trefoil_last_error(to_end));
    if (trefoil_comm_destroy(to_end) != ok ||
        trefoil_allgather(mine, all, sizeof mine, TREFOIL_INT8, comm) != ok) {
        return "the other communicator has ended, too";
    }
    alike = true;
    for (const std::string text : all) {
        alike = alike && text == all[0];
        if (text != "rank 0 aborted: twice" && text != "rank 3 aborted: twice") {
            return "another text: " + text;
        }
    }
    return "";
}

// Which of the two does not matter. On a machine so busy that a word takes a quarter of a second
// from rank to rank, both may remain (docs/reliability.md): then once more.
TEST_P(AbortProcesses, ByTwoAtOnceAllHaveOneText) {
    run(4, "2x2", [](int rank, trefoil_comm_t comm) {
        bool alike = false;
        for (int turn = 0; turn < 5 && !alike; ++turn) {
            const std::string told = end_by_two(rank, comm, alike);
            if (!told.empty()) {
                return wrong(told.c_str(), comm);
            }
        }
        return alike ? 0 : wrong("two texts in each of five turns", comm);
    });
}

// Rank 4 dies. Who shares a row with it notices first, ends the communicator of all, and all that
// are left go on.
TEST_P(AbortProcesses, ThenAllShrink) {
    run(9, "3x3",
        [](int rank, trefoil_comm_t comm) {
            trefoil_comm_t row = nullptr, rest = nullptr;
            const int keep[] = {0, 1};
            if (trefoil_comm_sub(comm, keep, &row) != ok || !checked_calls(row, 3, 1).empty() ||
                !checked_calls(comm, 3, 2).empty() || trefoil_barrier(comm) != ok) {
                return wrong("the beginning", comm);
            }
            if (rank == 4) {
                raise(SIGKILL);
            }
            if (rank / 3 == 1) {
                if (trefoil_barrier(row) == ok) {
                    return wrong("a call without the dead succeeded", row);
                }
                if (trefoil_comm_abort(comm, "a row is broken") != ok) {
                    return wrong("abort", comm);
                }
            } else {
                // Its own row is whole; with no call on the other one it would not notice.
                if (!checked_calls(row, 3, 3).empty()) {
                    return wrong("a row that is whole", row);
                }
                (void)trefoil_barrier(comm);
            }
            const std::string told = trefoil_last_error(comm);
            if (told.find("a row is broken") == std::string::npos &&
                told.find("rank 4") == std::string::npos) {
                return wrong("another cause", comm);
            }
            if (trefoil_comm_shrink(comm, &rest) != ok ||
                !consists_of(rest, rank, {0, 1, 2, 3, 5, 6, 7, 8})) {
                return wrong("shrink", comm);
            }
            if (const std::string bad = checked_calls(rest, 8, 4); !bad.empty()) {
                return wrong(bad.c_str(), rest);
            }
            return trefoil_barrier(rest) == ok && trefoil_comm_destroy(row) == ok &&
                           trefoil_comm_destroy(rest) == ok
                       ? 0
                       : wrong("the end", rest);
        },
        {4});
}

}  // namespace
}  // namespace trefoil::test
