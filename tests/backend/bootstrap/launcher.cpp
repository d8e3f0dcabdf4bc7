// SPDX-License-Identifier: BSD-3-Clause
// Which launcher is chosen, what is refused, and a store that rank 0 serves.
#include "backend/bootstrap/launcher.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <thread>

#include "backend/bootstrap/launcher_store.hpp"
#include "tests/backend/bootstrap/launcher_fake_pmi.hpp"
#include "topo/error.hpp"

namespace trefoil::launcher {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds patient{30000};
constexpr milliseconds hasty{200};

Error error_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error;
    }
    return {Status::success, ""};
}

bool says(const Error& error, const std::string& text) {
    return std::string(error.what()).find(text) != std::string::npos;
}

/// No launcher's variables at first, whatever runs the tests.
class LauncherTest : public ::testing::Test {
  protected:
    LauncherTest() {
        for (const char* name : {"PMIX_NAMESPACE", "PMIX_RANK", "PMI_FD", "PMI_RANK", "PMI_SIZE"}) {
            unsetenv(name);
        }
    }
    static void pretend_pmix() {
        setenv("PMIX_NAMESPACE", "job", 1);
        setenv("PMIX_RANK", "0", 1);
    }
    static Launcher chosen(const LauncherRequest& request) {
        const LauncherChoice choice = choose_launcher(request);
        EXPECT_FALSE(choice.reason.empty());
        return choice.launcher;
    }
};

LauncherRequest store_request(int port, Rank rank, Rank ranks, milliseconds deadline = patient) {
    LauncherRequest request;
    request.store = "127.0.0.1:" + std::to_string(port);
    request.rank = rank;
    request.ranks = ranks;
    request.deadline = deadline;
    return request;
}

/// A port that was free a moment ago.
int free_port() {
    return StoreServer().port();
}

TEST_F(LauncherTest, ChoosesInTheDocumentedOrder) {
    LauncherRequest nothing;
    EXPECT_EQ(chosen(nothing), Launcher::single);
    setenv("PMI_FD", "5", 1);
    EXPECT_EQ(chosen(nothing), Launcher::pmi);
    setenv("PMIX_RANK", "0", 1);
    EXPECT_EQ(chosen(nothing), Launcher::pmi) << "PMIX_RANK alone names no server";
    pretend_pmix();
    EXPECT_EQ(chosen(nothing), Launcher::pmix);
    EXPECT_EQ(chosen(store_request(7000, 0, 2)), Launcher::store);
    LauncherRequest size_alone;
    size_alone.ranks = 2;
    EXPECT_EQ(chosen(size_alone), Launcher::store);
}

TEST_F(LauncherTest, DoesWhatItIsTold) {
    pretend_pmix();
    for (const Launcher asked :
         {Launcher::store, Launcher::pmix, Launcher::pmi, Launcher::single}) {
        LauncherRequest request = store_request(7000, 0, 2);
        request.launcher = asked;
        EXPECT_EQ(chosen(request), asked);
        EXPECT_EQ(launcher_named(to_string(asked)), asked);
    }
    EXPECT_EQ(launcher_named("slurm"), std::nullopt);
    LauncherRequest single;
    single.launcher = Launcher::single;
    EXPECT_EQ(make_launcher_bootstrap(single)->ranks(), 1);
}

TEST_F(LauncherTest, OneRankNeedsNobody) {
    EXPECT_EQ(make_launcher_bootstrap({})->ranks(), 1);
    LauncherRequest size_one;
    size_one.ranks = 1;
    EXPECT_EQ(make_launcher_bootstrap(size_one)->ranks(), 1);
}

TEST_F(LauncherTest, ReadsStoreAddresses) {
    EXPECT_EQ(parse_store_address("node1:7000").host, "node1");
    EXPECT_EQ(parse_store_address("node1:7000").port, 7000);
    EXPECT_EQ(parse_store_address("[::1]:80").host, "::1");
    EXPECT_EQ(parse_store_address("[::1]:80").port, 80);
    for (const char* bad : {"", "node1", ":7000", "node1:", "node1:0", "node1:65536", "node1:x",
                            "node1:7000x", "node1:-1"}) {
        const Error error = error_of([bad] { parse_store_address(bad); });
        EXPECT_EQ(error.status(), Status::invalid_argument) << bad;
        EXPECT_TRUE(says(error, "TREFOIL_STORE")) << error.what();
    }
}

TEST_F(LauncherTest, RankZeroServesTheStore) {
    constexpr Rank ranks = 4;
    const int port = free_port();
    // Two communicators in succession, as a program has them; rank 0 comes last to the first.
    for (const char* job : {"first", "second"}) {
        std::vector<std::thread> threads;
        for (Rank r = 0; r < ranks; ++r) {
            threads.emplace_back([port, r, job] {
                std::this_thread::sleep_for(milliseconds(r == 0 ? 50 : 0));
                LauncherRequest request = store_request(port, r, ranks);
                request.job = job;
                const auto bootstrap = make_launcher_bootstrap(request);
                const auto all = bootstrap->allgather(std::to_string(r));
                EXPECT_EQ(all, (std::vector<std::string>{"0", "1", "2", "3"})) << job;
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    }
    EXPECT_EQ(error_of([port] { StoreServer("127.0.0.1", port); }).status(), Status::system_error)
        << "the store lives as long as the process";
}

TEST_F(LauncherTest, RankZeroJoinsAStoreThatIsServed) {
    const StoreServer server;
    std::thread other([&] {
        const auto bootstrap = make_launcher_bootstrap(store_request(server.port(), 1, 2));
        EXPECT_EQ(bootstrap->allgather("b"), (std::vector<std::string>{"a", "b"}));
    });
    const auto bootstrap = make_launcher_bootstrap(store_request(server.port(), 0, 2));
    EXPECT_EQ(bootstrap->allgather("a"), (std::vector<std::string>{"a", "b"}));
    other.join();
}

TEST_F(LauncherTest, AChildAfterForkLeavesTheStoreAlone) {
    const int port = free_port();
    const auto bootstrap = make_launcher_bootstrap(store_request(port, 0, 2));
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        std::exit(7);  // runs the destructors of what lives as long as the process
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
    std::thread other([port] { make_launcher_bootstrap(store_request(port, 1, 2))->barrier(); });
    bootstrap->barrier();
    other.join();
}

/// Both ranks of a job that meet at that port, in this process; true: they have.
bool both_meet_at(int port, const char* job) {
    std::thread other([&] {
        LauncherRequest request = store_request(port, 1, 2);
        request.job = job;
        make_launcher_bootstrap(request)->allgather("b");
    });
    LauncherRequest request = store_request(port, 0, 2);
    request.job = job;
    const auto heard = make_launcher_bootstrap(request)->allgather("a");
    other.join();
    return heard == std::vector<std::string>{"a", "b"};
}

/// As a daemon does it: the parent ends, and the child goes on alone.
TEST_F(LauncherTest, AChildAfterForkServesAStoreOfItsOwn) {
    const int port = free_port();
    int ends[2] = {-1, -1};
    ASSERT_EQ(pipe(ends), 0);
    const pid_t parent = fork();
    if (parent == 0) {
        alarm(20);
        const bool met = both_meet_at(port, "first");
        const pid_t own = getpid();
        if (!met || fork() != 0) {
            _exit(met ? 0 : 1);
        }
        alarm(20);
        while (getppid() == own) {
            std::this_thread::sleep_for(milliseconds(1));
        }
        const char result = both_meet_at(port, "second") ? 'y' : 'n';
        _exit(write(ends[1], &result, 1) == 1 ? 0 : 1);
    }
    close(ends[1]);
    int status = 0;
    ASSERT_EQ(waitpid(parent, &status, 0), parent);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    char result = '-';
    EXPECT_EQ(read(ends[0], &result, 1), 1) << "it has ended without a word";
    EXPECT_EQ(result, 'y');
    close(ends[0]);
}

TEST_F(LauncherTest, AStoreWhoseThreadCannotBeStartedIsToldToAll) {
    if (getuid() != 0) {
        GTEST_SKIP() << "only root can become a user whose processes are counted anew";
    }
    const int port = free_port();
    const auto says_why = [port](Rank rank) {
        const Error error =
            error_of([&] { make_launcher_bootstrap(store_request(port, rank, 3)); });
        return error.status() == Status::system_error && says(error, "ulimit -u");
    };
    std::vector<pid_t> children;
    for (const Rank rank : {0, 1, 2}) {
        children.push_back(fork());
        if (children.back() == 0) {
            alarm(20);
            const rlimit none{0, 0};
            if (rank == 0 && (setrlimit(RLIMIT_NPROC, &none) != 0 || setuid(65534) != 0)) {
                _exit(2);
            }
            _exit(says_why(rank) ? 0 : 1);
        }
    }
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
}

TEST_F(LauncherTest, SaysWhyAStoreIsNotThere) {
    const int port = free_port();
    const Error nobody =
        error_of([&] { make_launcher_bootstrap(store_request(port, 1, 2, hasty)); });
    EXPECT_EQ(nobody.status(), Status::timeout);
    EXPECT_TRUE(says(nobody, std::to_string(port)) && says(nobody, "did it start"))
        << nobody.what();

    LauncherRequest foreign = store_request(port, 0, 2, hasty);
    foreign.store = "192.0.2.1:" + std::to_string(port);  // an address kept for documentation
    const Error elsewhere = error_of([&] { make_launcher_bootstrap(foreign); });
    EXPECT_EQ(elsewhere.status(), Status::timeout);
    EXPECT_TRUE(says(elsewhere, "cannot serve it")) << elsewhere.what();

    LauncherRequest sizeless = store_request(port, 0, 0);
    const Error size = error_of([&] { make_launcher_bootstrap(sizeless); });
    EXPECT_EQ(size.status(), Status::invalid_argument);
    EXPECT_TRUE(says(size, "TREFOIL_SIZE")) << size.what();
}

TEST_F(LauncherTest, NeverLeavesARankAloneWhenAServerIsMissing) {
    pretend_pmix();
    setenv("PMIX_SERVER_TMPDIR", "/nonexistent", 1);
    const Error error = error_of([] { make_launcher_bootstrap({}); });
    EXPECT_TRUE(says(error, "PMIx") && says(error, "TREFOIL_LAUNCHER=single")) << error.what();
}

TEST_F(LauncherTest, RefusesPmiVariablesThatMakeNoSense) {
    struct Case {
        const char *file, *rank, *size, *blamed;
    };
    for (const Case& c : {Case{"x", "0", "2", "PMI_FD"}, Case{"-1", "0", "2", "PMI_FD"},
                          Case{"5", "", "2", "PMI_RANK"}, Case{"5", "2", "2", "PMI_SIZE"}}) {
        setenv("PMI_FD", c.file, 1);
        setenv("PMI_RANK", c.rank, 1);
        setenv("PMI_SIZE", c.size, 1);
        const Error error = error_of([] { make_launcher_bootstrap({}); });
        EXPECT_EQ(error.status(), Status::invalid_argument);
        EXPECT_TRUE(says(error, c.blamed)) << error.what();
    }
}

/// In a process of its own: the connection lives until a process ends, and so its farewell.
TEST_F(LauncherTest, CommunicatorsOfAProcessShareOneConnection) {
    test::FakeProcessManager manager(1, {});
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        setenv("PMI_FD", std::to_string(manager.descriptor(0)).c_str(), 1);
        setenv("PMI_RANK", "0", 1);
        setenv("PMI_SIZE", "1", 1);
        LauncherRequest request;
        const auto first = make_launcher_bootstrap(request);
        request.job = "other";
        const auto second = make_launcher_bootstrap(request);
        const bool good = first->allgather("a").at(0) == "a" && second->allgather("b").at(0) == "b";
        std::exit(good ? 7 : 8);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
    close(manager.descriptor(0));
    EXPECT_EQ(manager.farewells(), 1);
}

}  // namespace
}  // namespace trefoil::launcher
