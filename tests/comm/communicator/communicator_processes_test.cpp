// SPDX-License-Identifier: BSD-3-Clause
// Communicators that are made from others, between processes over every transport; and a process
// that dies.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "ok.hpp"
#include "process_job.hpp"
#include "tests/backend/registry/transports_to_test.hpp"
#include "tests/sanitizers.hpp"

namespace trefoil::test::communicator_processes_test {
namespace {

/// Sums of small and of large vectors are right: each rank brings `mine`, and all make `all`.
bool sums(trefoil_comm_t comm, int mine, int all) {
    for (const std::size_t count : {1U, 1000U, 100'000U}) {
        std::vector<int> data(count, mine);
        if (trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_INT32, TREFOIL_SUM,
                              comm) != ok ||
            data != std::vector<int>(count, all)) {
            return false;
        }
    }
    return true;
}

/// On 2x3; 0 when all is right.
int all_ways(int rank, trefoil_comm_t comm) {
    trefoil_comm_t dup = nullptr, row = nullptr, column = nullptr, half = nullptr, ends = nullptr;
    const int keep_row[] = {0, 1}, keep_column[] = {1, 0}, both[] = {5, 0};
    const int i = rank / 3, j = rank % 3;
    if (trefoil_comm_dup(comm, &dup) != ok || !sums(dup, rank, 15)) {
        return 1;
    }
    if (trefoil_comm_sub(comm, keep_row, &row) != ok || !sums(row, rank, 9 * i + 3)) {
        return 2;
    }
    if (trefoil_comm_sub(dup, keep_column, &column) != ok || !sums(column, rank, 2 * j + 3)) {
        return 3;
    }
    if (trefoil_comm_split(dup, rank % 2, -rank, &half) != ok ||
        !sums(half, rank, rank % 2 == 0 ? 6 : 9)) {
        return 4;
    }
    if ((rank == 0 || rank == 5) &&
        (trefoil_comm_create_group(comm, both, 2, 0, &ends) != ok || !sums(ends, rank, 5))) {
        return 5;
    }
    if (!sums(comm, rank, 15) || trefoil_barrier(comm) != ok) {
        return 6;
    }
    for (const trefoil_comm_t made : {dup, row, column, half, ends}) {
        if (trefoil_comm_destroy(made) != ok) {
            return 7;
        }
    }
    return 0;
}

class CommunicatorProcesses : public testing::TestWithParam<std::string> {};

TEST_P(CommunicatorProcesses, SumRight) {
    const Job job = start(6, "2x3", GetParam().c_str(), all_ways);
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + std::chrono::seconds(40);
    for (const pid_t pid : job.pids) {
        EXPECT_EQ(finish(pid, deadline), 0);
    }
}

/// Fails as a rank has died, which it names.
bool tells_of(trefoil_comm_t comm, const char* rank) {
    int one = 1, sum = 0;
    const trefoil_status_t status =
        trefoil_allreduce(&one, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm);
    const std::string text = trefoil_last_error(comm);
    const bool named = text.find(rank) != std::string::npos;
    if (!named) {
        fprintf(stderr, "%s does not name %s\n", text.c_str(), rank);
    }
    return (status == TREFOIL_ERROR_PEER_LOST || status == TREFOIL_ERROR_TIMEOUT) && named;
}

// On 2x2 rank 3 dies: it is rank 1 of the second row. The first row goes on.
TEST_P(CommunicatorProcesses, WhereADeadRankIsNotInTheyGoOn) {
    const Job job = start(4, "2x2", GetParam().c_str(), [](int rank, trefoil_comm_t comm) {
        trefoil_comm_t row = nullptr;
        const int keep[] = {0, 1};
        if (trefoil_comm_sub(comm, keep, &row) != ok || !sums(row, 1, 2) || !sums(comm, 1, 4)) {
            return 1;
        }
        if (rank == 3) {
            raise(SIGKILL);
        }
        if (rank == 2) {
            return tells_of(row, "rank 1") ? 0 : 2;
        }
        if (!tells_of(comm, "rank 3")) {
            return 3;
        }
        for (int call = 0; call < 100; ++call) {
            if (!sums(row, 1, 2)) {
                fprintf(stderr, "%s\n", trefoil_last_error(row));
                return 4;
            }
        }
        trefoil_comm_t again = nullptr;
        if (trefoil_comm_dup(row, &again) != ok || !sums(again, 1, 2) ||
            trefoil_barrier(again) != ok) {
            fprintf(stderr, "%s\n", trefoil_last_error(nullptr));
            return 5;
        }
        return 0;
    });
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + std::chrono::seconds(40);
    EXPECT_EQ(finish(job.pids[3], deadline), -SIGKILL);
    for (const int r : {0, 1, 2}) {
        EXPECT_EQ(finish(job.pids[static_cast<std::size_t>(r)], deadline), 0) << "rank " << r;
    }
}

/// Refused as the communicator is another process's.
bool refused(trefoil_status_t status, const char* words = "this process was forked") {
    const std::string text = trefoil_last_error(nullptr);
    const bool told = status == TREFOIL_ERROR_INVALID_ARGUMENT && text.find(words) != text.npos;
    if (!told) {
        fprintf(stderr, "status %d: %s\n", static_cast<int>(status), text.c_str());
    }
    return told;
}

/// 0: a child of fork() is refused whatever it tries with the calls and communicators of its
/// parent.
int try_as_a_child(trefoil_comm_t comm, trefoil_request_t pending, trefoil_request_t persistent) {
    int one = 1, sum = 0, done = 0, keep[] = {1};
    trefoil_comm_t made = nullptr;
    trefoil_request_t request = TREFOIL_REQUEST_NULL;
    const bool all =
        refused(trefoil_allreduce(&one, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm)) &&
        refused(trefoil_iallreduce(&one, &sum, 1, TREFOIL_INT32, TREFOIL_SUM, comm, &request)) &&
        refused(trefoil_test(&pending, &done)) && refused(trefoil_wait(&pending)) &&
        refused(trefoil_waitall(1, &pending)) && refused(trefoil_start(&persistent)) &&
        refused(trefoil_comm_dup(comm, &made)) && refused(trefoil_comm_sub(comm, keep, &made)) &&
        refused(trefoil_progress(comm)) && made == nullptr;
    return all ? 0 : 1;
}

// Of two ranks one forks while a call is in flight and another one is prepared.
TEST_P(CommunicatorProcesses, AForkInBetweenIsRefusedInTheChildAndTheParentGoesOn) {
    const Job job = start(2, "2", GetParam().c_str(), [](int rank, trefoil_comm_t comm) {
        std::vector<int> data(100'000, rank + 1), sum(data.size());
        int one = 1, two = 0;
        trefoil_request_t pending = TREFOIL_REQUEST_NULL, persistent = TREFOIL_REQUEST_NULL;
        if (!sums(comm, 1, 2) ||
            trefoil_allreduce_init(&one, &two, 1, TREFOIL_INT32, TREFOIL_SUM, comm, &persistent) !=
                ok ||
            trefoil_iallreduce(data.data(), sum.data(), data.size(), TREFOIL_INT32, TREFOIL_SUM,
                               comm, &pending) != ok) {
            return 1;
        }
        if (rank == 0) {
            const pid_t child = fork();
            if (child == 0) {
                _exit(try_as_a_child(comm, pending, persistent));
            }
            if (finish(child, Clock::now() + std::chrono::seconds(20)) != 0) {
                return 2;
            }
        }
        if (trefoil_wait(&pending) != ok || sum != std::vector<int>(data.size(), 3)) {
            return 3;
        }
        if (trefoil_start(&persistent) != ok || trefoil_wait(&persistent) != ok || two != 2) {
            return 4;
        }
        return trefoil_request_free(&persistent) == ok && sums(comm, 1, 2) ? 0 : 5;
    });
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + std::chrono::seconds(40);
    for (const pid_t pid : job.pids) {
        EXPECT_EQ(finish(pid, deadline), 0);
    }
}

// Rank 1 ends a communicator on which the others have calls in flight. Their puts find nobody; they
// are told, and the communicator that all came from goes on.
TEST_P(CommunicatorProcesses, PutsForADestroyedCommunicatorAreTold) {
    const Job job = start(3, "3", GetParam().c_str(), [](int rank, trefoil_comm_t comm) {
        trefoil_comm_t dup = nullptr;
        if (trefoil_comm_dup(comm, &dup) != ok || !sums(dup, 1, 3) || !sums(comm, 1, 3)) {
            return 1;
        }
        std::vector<int> small(10, 1), large(100'000, 1);
        if (rank == 1) {
            if (trefoil_comm_destroy(dup) != ok) {
                return 2;
            }
        } else {
            trefoil_request_t requests[2] = {};
            for (std::vector<int>* data : {&small, &large}) {
                (void)trefoil_iallreduce(TREFOIL_IN_PLACE, data->data(), data->size(),
                                         TREFOIL_INT32, TREFOIL_SUM, dup,
                                         &requests[data == &large ? 1 : 0]);
            }
            const trefoil_status_t status = trefoil_waitall(2, requests);
            const std::string text = trefoil_last_error(dup);
            if (status != TREFOIL_ERROR_PEER_LOST ||
                text.find("destroyed its communicator") == text.npos) {
                fprintf(stderr, "status %d: %s\n", static_cast<int>(status), text.c_str());
                return 3;
            }
        }
        for (int call = 0; call < 20; ++call) {
            if (!sums(comm, 1, 3)) {
                fprintf(stderr, "%s\n", trefoil_last_error(comm));
                return 4;
            }
        }
        return trefoil_barrier(comm) == ok ? 0 : 5;
    });
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + std::chrono::seconds(40);
    for (const pid_t pid : job.pids) {
        EXPECT_EQ(finish(pid, deadline), 0);
    }
}

/// This process can open no file meanwhile.
class NoDescriptors {
  public:
    NoDescriptors() {
        getrlimit(RLIMIT_NOFILE, &before_);
        const int free = open("/dev/null", O_RDONLY | O_CLOEXEC);
        close(free);
        const rlimit none{static_cast<rlim_t>(free), before_.rlim_max};
        setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;

  private:
    rlimit before_{};
};

// In a communicator with the ranks in reversed order rank 5 is rank 0: no message may mix the two.
TEST_P(CommunicatorProcesses, AnErrorHasTheNumbersOfItsOwnCommunicator) {
    if (GetParam() == "ucx") {
        GTEST_SKIP() << "UCX 1.13 may end a process that can open no file";
    }
    if (sanitized) {
        GTEST_SKIP() << "a sanitizer looks at memory through pipes, for which it needs descriptors";
    }
    // Who leaves before the others have heard is a rank that has died: each closes the pipe when it
    // has heard, and leaves when all have closed it.
    int heard[2] = {-1, -1};
    ASSERT_EQ(pipe(heard), 0);
    const auto starves = [&heard](int rank, trefoil_comm_t comm) {
        trefoil_comm_t reversed = nullptr;
        if (trefoil_comm_split(comm, 0, -rank, &reversed) != ok || !sums(reversed, 1, 6)) {
            return 1;
        }
        std::optional<NoDescriptors> starved;
        if (rank == 5) {
            starved.emplace();
        }
        trefoil_status_t status = ok;
        std::vector<int> mine(1000, rank), all(6000);
        for (int root = 0; root < 6 && status == ok; ++root) {
            status = trefoil_gather(mine.data(), all.data(), 1000, TREFOIL_INT32, root, reversed);
        }
        status = status == ok ? trefoil_barrier(reversed) : status;
        starved.reset();
        const std::string text = trefoil_last_error(reversed);
        const std::regex expected(
            "rank 0 \\(process \\d+ on host [^)]+\\): cannot connect direction "
            "[+-]0 of rank 0 \\(.*\\) to direction [+-]0 of rank [1-5] \\(.*");
        if (status == ok || !std::regex_match(text, expected)) {
            fprintf(stderr, "rank %d: %d %s\n", rank, static_cast<int>(status), text.c_str());
            return 2;
        }
        char nothing = 0;
        close(heard[1]);
        if (read(heard[0], &nothing, 1) != 0) {
            return 3;
        }
        (void)trefoil_comm_destroy(reversed);
        return 0;
    };
    // The sums must leave connections for the gathers to make.
    const Job job = start(6, "6", GetParam().c_str(), starves,
                          {{"TREFOIL_ALGORITHM", "allreduce=ring,gather=linear"}});
    close(heard[0]);
    close(heard[1]);
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + std::chrono::seconds(40);
    for (const pid_t pid : job.pids) {
        EXPECT_EQ(finish(pid, deadline), 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Backends, CommunicatorProcesses, testing::ValuesIn(backends_to_test()));

}  // namespace
}  // namespace trefoil::test::communicator_processes_test
