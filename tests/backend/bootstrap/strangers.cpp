// SPDX-License-Identifier: BSD-3-Clause
// A job of processes whose store strangers disturb: it finishes with right results, and says whom
// it has refused.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "backend/bootstrap/bootstrap.hpp"
#include "backend/bootstrap/store_wire.hpp"
#include "tests/backend/bootstrap/shell.hpp"
#include "topo/error.hpp"

namespace trefoil::test {
namespace {

using std::chrono::milliseconds;

constexpr int ranks = 4;
constexpr int communicators = 12;

std::string program() {
    return std::string(TREFOIL_LAUNCHER_RANK) + " again " + std::to_string(communicators);
}

class Strangers : public ::testing::Test {
  protected:
    void SetUp() override {
        for (const char* name : {"TREFOIL_LAUNCHER", "TREFOIL_TORUS", "TREFOIL_TOKEN",
                                 "TREFOIL_JOB", "TREFOIL_LOG", "TREFOIL_LOG_FILE"}) {
            unsetenv(name);
        }
        setenv("TREFOIL_TIMEOUT", "30", 1);
        port_ = StoreServer().port();  // free a moment ago; rank 0 serves there
    }

    std::string job(const std::string& variables, const std::string& what = program()) const {
        return "ulimit -n 1024; export " + variables + "; " +
               by_hand(ranks, "127.0.0.1:" + std::to_string(port_), what);
    }

    /// Connects as soon as the store is there; -1: it has ended.
    int connect_to_store() const {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port_));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (file >= 0 &&
            connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
            return file;
        }
        close(file);
        return -1;
    }

    /// Runs the job and, once its store is there, `disturb`.
    Result run_disturbed(const std::function<void()>& disturb) {
        std::atomic<bool> done{false};
        std::thread strangers([&] {
            int first = -1;
            while (first < 0 && !done) {
                first = connect_to_store();
                std::this_thread::sleep_for(milliseconds(5));
            }
            close(first);
            disturb();
        });
        Result result = run(job("TREFOIL_TOKEN=secret-of-this-job"));
        done = true;
        strangers.join();
        return result;
    }

    static void expect_right(const Result& result) {
        EXPECT_EQ(result.code, 0) << result.out;
        EXPECT_EQ(result.lines_with("of 4: " + std::to_string(communicators) + " sums of 10"),
                  ranks)
            << result.out;
        EXPECT_EQ(result.out.find("secret-of-this-job"), std::string::npos) << "it is told";
    }

    int port_ = 0;
};

TEST_F(Strangers, GarbageIsRefusedAndTold) {
    const Result result = run_disturbed([&] {
        for (int i = 0; i < 50; ++i) {
            const int file = connect_to_store();
            const std::string words = "GET /" + std::string(200, 'x') + " HTTP/1.1\r\n\r\n";
            (void)!send(file, words.data(), words.size(), MSG_NOSIGNAL);
            std::this_thread::sleep_for(milliseconds(5));
            close(file);
        }
    });
    expect_right(result);
    EXPECT_GE(result.lines_with("speaks Trefoil's store protocol only"), 1) << result.out;
    EXPECT_LE(result.lines_with("has refused"), 4) << "not a line for each:\n" << result.out;
}

/// Their greetings come byte by byte, and their connections outlast the job.
TEST_F(Strangers, SlowGreetingsHoldNobodyUp) {
    std::vector<int> files;
    const Result result = run_disturbed([&] {
        const std::string greeting = store::Message(store::Kind::hello).finish();
        for (int i = 0; i < 20; ++i) {
            files.push_back(connect_to_store());
        }
        for (std::size_t at = 0; at < greeting.size() - 1; ++at) {
            for (const int file : files) {
                (void)!send(file, greeting.data() + at, 1, MSG_NOSIGNAL);
            }
            std::this_thread::sleep_for(milliseconds(50));
        }
    });
    std::for_each(files.begin(), files.end(), close);
    expect_right(result);
}

TEST_F(Strangers, TwoThousandConnectionsAreTooManyForNobody) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4096);
    setrlimit(RLIMIT_NOFILE, &limit);
    std::vector<int> files;
    const Result result = run_disturbed([&] {
        for (int i = 0; i < 2000; ++i) {
            files.push_back(connect_to_store());
        }
    });
    const auto open = std::count_if(files.begin(), files.end(), [](int file) { return file >= 0; });
    std::for_each(files.begin(), files.end(), close);
    limit.rlim_cur = before;
    setrlimit(RLIMIT_NOFILE, &limit);
    expect_right(result);
    EXPECT_GT(open, 1100) << "else it was no test";
    EXPECT_GE(result.lines_with("others wait for its place"), 1) << result.out;
    EXPECT_LE(result.lines_with("has refused"), 4) << "not a line for each:\n" << result.out;
}

TEST_F(Strangers, TheWrongTokenIsRefusedAndTold) {
    std::atomic<int> let_in{0};
    const Result result = run_disturbed([&] {
        for (int i = 0; i < 20; ++i) {
            try {
                make_store_bootstrap({"127.0.0.1", port_, "a guess", i % ranks, ranks},
                                     "default.0");
                ++let_in;
            } catch (const Error&) {
                continue;
            }
        }
    });
    expect_right(result);
    EXPECT_EQ(let_in, 0);
    EXPECT_GE(result.lines_with("token is not the one"), 1) << result.out;
    EXPECT_LE(result.lines_with("has refused"), 4) << "not a line for each:\n" << result.out;
}

/// What the environment says is another token on each rank.
TEST_F(Strangers, AProgramMayGiveTheToken) {
    const std::string own = "sh -c 'TREFOIL_TOKEN=$$ exec " + program() + "'";
    expect_right(run(job("LAUNCHER_RANK_TOKEN=secret-of-this-job", own)));
    const Result without = run(job("TREFOIL_TIMEOUT=5", own));
    EXPECT_NE(without.code, 0) << without.out;
    EXPECT_GE(without.lines_with("token is not the one"), 1) << "it was no test:\n" << without.out;
}

/// Of equal size and name, at one port: the second is told, at once.
TEST_F(Strangers, TwoJobsDoNotMix) {
    for (const std::string token : {"TREFOIL_TOKEN=another-secret", "TREFOIL_TOKEN="}) {
        Result second;
        const auto begin = std::chrono::steady_clock::now();
        const Result first = run_disturbed([&] { second = run(job(token)); });
        expect_right(first);
        EXPECT_GE(first.lines_with("has refused"), 1) << first.out;
        EXPECT_NE(second.code, 0) << second.out;
        EXPECT_EQ(second.lines_with("choose another port"), ranks) << second.out;
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    }
}

}  // namespace
}  // namespace trefoil::test
