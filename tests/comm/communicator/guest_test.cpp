// SPDX-License-Identifier: BSD-3-Clause
// The library is a guest in the program's process: it leaves alone the program's descriptors,
// handlers, signals and limits, and serves it until its last moment.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "process_job.hpp"
#include "tests/backend/registry/transports_to_test.hpp"
#include "tests/sanitizers.hpp"
#include "trefoil/trefoil.h"

namespace trefoil::test {
namespace {

using GuestBody = std::function<int(int rank, trefoil_comm_t comm)>;

/// Two ranks; each must end with 0. `before` comes before anything of Trefoil's.
void two_guests(const std::string& backend, const GuestBody& body,
                const std::map<std::string, std::string>& environment = {},
                const std::function<bool(int rank)>& before = {}) {
    const Job job = start(2, "2", backend.c_str(), body, environment, before);
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + std::chrono::seconds(40);
    for (const pid_t pid : job.pids) {
        EXPECT_EQ(finish(pid, deadline), 0);
    }
}

trefoil_status_t sum_of(std::size_t count, trefoil_comm_t comm) {
    std::vector<double> data(count, 1);
    const auto status =
        trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_DOUBLE, TREFOIL_SUM, comm);
    const bool right = std::all_of(data.begin(), data.end(), [](double x) { return x == 2; });
    return status == TREFOIL_SUCCESS && !right ? TREFOIL_ERROR_INTERNAL : status;
}

bool is_closed_or_null(int descriptor) {
    struct stat status {};
    return fstat(descriptor, &status) != 0 ||
           (S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3));
}

class GuestProcess : public testing::TestWithParam<std::string> {};

/// A warning is given (TREFOIL_BOGUS), and the program prints while calls run.
TEST_P(GuestProcess, WithoutStandardDescriptorsPrintsIntoNothing) {
    const auto body = [](int, trefoil_comm_t comm) {
        for (const std::size_t count : {1U, 1000U, 200'000U}) {
            for (const int descriptor : {0, 1, 2}) {
                if (!is_closed_or_null(descriptor)) {
                    return 10 + descriptor;
                }
                [[maybe_unused]] const auto written = write(descriptor, "a word\n", 7);
            }
            if (const auto status = sum_of(count, comm); status != TREFOIL_SUCCESS) {
                return 20 + status;
            }
        }
        return 0;
    };
    two_guests(GetParam(), body, {{"TREFOIL_BOGUS", "1"}, {"TREFOIL_TELL", "log"}},
               [](int) { return close(0) == 0 && close(1) == 0 && close(2) == 0; });
}

void of_the_program(int) {}

using Handlers = std::array<struct sigaction, NSIG>;

Handlers all_handlers() {
    Handlers all{};
    for (int number = 1; number < NSIG; ++number) {
        sigaction(number, nullptr, &all[static_cast<std::size_t>(number)]);
    }
    return all;
}

/// The C library adds it to what it sets.
constexpr int c_library_flag = 0x04000000;

bool same_handlers(const Handlers& a, const Handlers& b) {
    return std::equal(a.begin(), a.end(), b.begin(), [](const auto& one, const auto& other) {
        return one.sa_handler == other.sa_handler &&
               ((one.sa_flags ^ other.sa_flags) & ~c_library_flag) == 0;
    });
}

/// Of these six libraries below are fond.
Handlers& handlers_before() {
    static Handlers handlers;
    return handlers;
}

bool set_handlers(int) {
    for (const int number : {SIGTERM, SIGINT, SIGSEGV, SIGBUS, SIGILL, SIGABRT}) {
        signal(number, of_the_program);
    }
    handlers_before() = all_handlers();
    return true;
}

TEST_P(GuestProcess, KeepsItsSignalHandlers) {
    if (sanitized) {
        GTEST_SKIP() << "sanitizers handle signals themselves";
    }
    const auto body = [](int, trefoil_comm_t comm) {
        const bool while_it_lives = sum_of(1000, comm) == TREFOIL_SUCCESS &&
                                    same_handlers(handlers_before(), all_handlers());
        trefoil_comm_destroy(comm);
        return while_it_lives ? same_handlers(handlers_before(), all_handlers()) ? 0 : 2 : 1;
    };
    two_guests(GetParam(), body, {}, set_handlers);
}

/// The hexadecimal mask of blocked signals of a thread of this process.
unsigned long long blocked_in(const std::filesystem::path& task) {
    std::ifstream lines(task / "status");
    for (std::string word; lines >> word;) {
        if (word == "SigBlk:" && lines >> word) {
            return std::stoull(word, nullptr, 16);
        }
    }
    return ~0ULL;  // it has ended
}

TEST_P(GuestProcess, GetsItsSignalsInItsOwnThreads) {
    if (sanitized) {
        GTEST_SKIP() << "sanitizers have threads of their own";
    }
    const auto body = [](int, trefoil_comm_t comm) {
        int others = 0;
        for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
            if (task.path().filename() == std::to_string(getpid())) {
                continue;
            }
            ++others;
            const unsigned long long blocked = blocked_in(task.path());
            for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGCHLD, SIGALRM, SIGRTMIN}) {
                if ((blocked >> (number - 1) & 1) == 0) {
                    return number;
                }
            }
            if (blocked != ~0ULL && (blocked >> (SIGSEGV - 1) & 1) != 0) {
                return 98;  // a user's operation may run there
            }
        }
        return others == 0 ? 97 : sum_of(1000, comm) == TREFOIL_SUCCESS ? 0 : 96;
    };
    two_guests(GetParam(), body, {{"TREFOIL_PORT_THREADS", "1"}, {"TREFOIL_DUMP", "SIGUSR2"}});
}

INSTANTIATE_TEST_SUITE_P(Backends, GuestProcess, testing::ValuesIn(backends_to_test()));

bool is_in_this_process(const char* library) {
    return dlopen(library, RTLD_NOW | RTLD_NOLOAD) != nullptr;
}

TEST(GuestInMemory, BringsNoNetworkLibrary) {
    if (is_in_this_process("libucs.so.0") || is_in_this_process("libfabric.so.1")) {
        GTEST_SKIP() << "another test has loaded them in the process that ranks are forked from";
    }
    two_guests("memory", [](int, trefoil_comm_t comm) {
        return sum_of(1000, comm) != TREFOIL_SUCCESS  ? 1
               : is_in_this_process("libucs.so.0")    ? 2
               : is_in_this_process("libfabric.so.1") ? 3
                                                      : 0;
    });
}

/// A call that needs more memory than may be had fails in words, or does without.
TEST(GuestInMemory, HeedsALimitOfFileSizesThatIsSetLater) {
    two_guests("memory",
               [](int, trefoil_comm_t comm) {
                   const rlimit low{4096, 4096};
                   if (setrlimit(RLIMIT_FSIZE, &low) != 0) {
                       return 1;
                   }
                   const auto status = sum_of(1'000'000, comm);
                   return status == TREFOIL_SUCCESS || *trefoil_last_error(comm) != '\0' ? 0 : 2;
               },
               {{"TREFOIL_SINGLE_COPY", "0"}});
}

/// Their numbers are other files' then, which are neither grown nor mapped.
TEST(GuestInMemory, GrowsNoFileOfAProgramThatHasClosedItsDescriptors) {
    two_guests("memory",
               [](int, trefoil_comm_t comm) {
                   constexpr off_t size = 14;
                   closefrom(3);
                   std::vector<int> files;
                   for (int i = 0; i < 40; ++i) {
                       files.push_back(memfd_create("of-the-program", 0));
                       if (files.back() < 0 || ftruncate(files.back(), size) != 0) {
                           return 1;
                       }
                   }
                   [[maybe_unused]] const auto status = sum_of(1'000'000, comm);
                   trefoil_comm_destroy(comm);
                   for (const int file : files) {
                       struct stat now {};
                       if (fstat(file, &now) != 0) {
                           return 2;
                       }
                       if (now.st_size != size) {
                           return 3;
                       }
                   }
                   return 0;
               },
               {{"TREFOIL_SINGLE_COPY", "0"}});
}

constexpr std::size_t long_element = 100'000;

void second_of_long(const void*, void*, size_t, void*) {}

/// What is kept for each thread is used: a text of the last error, and room for long elements.
bool uses_what_threads_keep(trefoil_comm_t comm) {
    const bool refused = trefoil_bcast(nullptr, 7, TREFOIL_DOUBLE, 5, comm) != TREFOIL_SUCCESS &&
                         std::string(trefoil_last_error(nullptr)).size() > 20 &&
                         trefoil_last_error(comm) != nullptr;
    trefoil_op_t second{};
    std::vector<char> data(2 * long_element, 'x');
    return refused &&
           trefoil_op_create(second_of_long, nullptr, long_element, 0, &second) ==
               TREFOIL_SUCCESS &&
           trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), 2, TREFOIL_ELEMENT, second, comm) ==
               TREFOIL_SUCCESS &&
           trefoil_op_free(second) == TREFOIL_SUCCESS;
}

/// Calls that make new plans, of many kinds. 0: all are right.
int first_calls(int rank, trefoil_comm_t comm) {
    if (trefoil_barrier(comm) != TREFOIL_SUCCESS) {
        return 30;
    }
    for (const std::size_t count : {3U, 3000U, 300'000U}) {
        if (sum_of(count, comm) != TREFOIL_SUCCESS) {
            return 31;
        }
    }
    std::vector<double> mine(512, rank), all(1024);
    const bool moved =
        trefoil_alltoall(all.data(), mine.data(), 256, TREFOIL_DOUBLE, comm) == TREFOIL_SUCCESS &&
        trefoil_bcast(mine.data(), mine.size(), TREFOIL_DOUBLE, 1, comm) == TREFOIL_SUCCESS &&
        trefoil_allgather(mine.data(), all.data(), 512, TREFOIL_DOUBLE, comm) == TREFOIL_SUCCESS;
    trefoil_comm_t copy = nullptr;
    const bool copied = trefoil_comm_dup(comm, &copy) == TREFOIL_SUCCESS &&
                        sum_of(77, copy) == TREFOIL_SUCCESS &&
                        trefoil_comm_destroy(copy) == TREFOIL_SUCCESS;
    return !moved ? 32 : !uses_what_threads_keep(comm) ? 33 : !copied ? 34 : 0;
}

/// Ends with the process, after all that is made later: after what the library has made.
struct GuestAtTheEnd {
    trefoil_comm_t comm = nullptr;
    int rank = 0;
    ~GuestAtTheEnd() {
        if (comm != nullptr) {
            alarm(20);
            _exit(first_calls(rank, comm));
        }
    }
} at_the_end;

TEST(GuestAtItsEnd, MakesFirstCallsInTheDestructorOfAGlobalObject) {
    two_guests("memory", [](int rank, trefoil_comm_t comm) {
        if (!uses_what_threads_keep(comm)) {
            return 1;
        }
        at_the_end.comm = comm;
        at_the_end.rank = rank;
        std::exit(99);
        return 0;
    });
}

TEST(GuestAtItsEnd, MakesFirstCallsInAFunctionOfAtexit) {
    static trefoil_comm_t last_comm;
    static int last_rank;
    two_guests(
        "memory",
        [](int rank, trefoil_comm_t comm) {
            last_comm = comm;
            last_rank = rank;
            std::exit(99);
            return 1;
        },
        {}, [](int) { return std::atexit([] { _exit(first_calls(last_rank, last_comm)); }) == 0; });
}

}  // namespace
}  // namespace trefoil::test
