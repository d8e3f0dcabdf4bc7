// SPDX-License-Identifier: BSD-3-Clause
// Who asks with the key is told; others hear nothing and hold nobody up for long; a signal writes
// the log.
#include "comm/status/teller.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <mutex>
#include <thread>

#include "topo/error.hpp"

namespace trefoil::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

RankReport report() {
    RankReport report;
    report.rank = 5;
    report.ranks = 6;
    return report;
}

std::shared_ptr<const Log> silent() {
    return std::make_shared<Log>(LogRequest{}, 0);
}

Teller::Options listening() {
    Teller::Options options;
    options.listens = true;
    options.key = "secret";
    return options;
}

int port_in(const std::string& address) {
    const auto colon = address.rfind(':');
    return std::stoi(address.substr(colon + 1, address.rfind('/') - colon - 1));
}

std::string ask(const Teller& teller, const std::string& question) {
    const auto socket =
        store::connect_to("127.0.0.1", port_in(teller.address()), Clock::now() + seconds(5));
    const int flags = MSG_NOSIGNAL;
    EXPECT_EQ(send(socket.number(), question.data(), question.size(), flags),
              static_cast<ssize_t>(question.size()));
    std::string text;
    const auto deadline = Clock::now() + seconds(5);
    char piece[512];
    while (Clock::now() < deadline) {
        const ssize_t bytes = recv(socket.number(), piece, sizeof piece, 0);
        if (bytes > 0) {
            text.append(piece, static_cast<std::size_t>(bytes));
        } else if (bytes == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) {
            return text;
        } else {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
    ADD_FAILURE() << "it neither answers nor hangs up";
    return text;
}

TEST(Teller, AnswersWhoKnowsTheKey) {
    const Teller teller(listening(), report, silent());
    EXPECT_EQ(teller.address().substr(teller.address().size() - 7), "/secret");
    EXPECT_EQ(ask(teller, "secret\n"), json_of(report()) + "\n");
    EXPECT_EQ(ask(teller, "secret\nand more"), json_of(report()) + "\n");
}

TEST(Teller, TellsStrangersNothing) {
    const Teller teller(listening(), report, silent());
    EXPECT_EQ(ask(teller, "guess\n"), "");
    EXPECT_EQ(ask(teller, "\n"), "");
    EXPECT_EQ(ask(teller, std::string(300, 'x')), "");
    EXPECT_EQ(ask(teller, "secret"), "") << "it never ends the line";
    EXPECT_EQ(ask(teller, "secret\n"), json_of(report()) + "\n");
}

TEST(Teller, ASlowStrangerHoldsNobodyUpForLong) {
    const Teller teller(listening(), report, silent());
    const auto slow =
        store::connect_to("127.0.0.1", port_in(teller.address()), Clock::now() + seconds(5));
    EXPECT_EQ(ask(teller, "secret\n"), json_of(report()) + "\n");
}

TEST(Teller, ASignalWritesTheLog) {
    struct Said {
        std::mutex mutex;
        std::string text;
    };
    const auto said = std::make_shared<Said>();
    LogRequest request;
    request.function = [said](LogLevel, const char*, const char* text) {
        const std::lock_guard lock(said->mutex);
        said->text += text;
    };
    Teller::Options options;
    options.signal = SIGUSR2;
    const Teller teller(options, report, std::make_shared<Log>(request, 0));
    EXPECT_EQ(teller.address(), "");
    ASSERT_EQ(std::raise(SIGUSR2), 0);
    const auto deadline = Clock::now() + seconds(10);
    while (Clock::now() < deadline) {
        const std::lock_guard lock(said->mutex);
        if (!said->text.empty()) {
            break;
        }
    }
    const std::lock_guard lock(said->mutex);
    EXPECT_EQ(said->text, text_of(report()));
}

TEST(Teller, TheLastOneGivesTheSignalBack) {
    const auto handler = [] {
        struct sigaction now = {};
        sigaction(SIGUSR2, nullptr, &now);
        return now.sa_handler;
    };
    Teller::Options options;
    options.signal = SIGUSR2;
    {
        const Teller teller(options, report, silent());
        { const Teller another(options, report, silent()); }
        EXPECT_NE(handler(), SIG_DFL);
    }
    EXPECT_EQ(handler(), SIG_DFL);
}

TEST(Teller, RestsWhileNoDescriptorIsLeft) {
    const Teller teller(listening(), report, silent());
    auto asker =
        store::connect_to("127.0.0.1", port_in(teller.address()), Clock::now() + seconds(5));
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{3, before.rlim_max};
    const std::clock_t start = std::clock();  // of the processor
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC / 4);
    asker = {};
    EXPECT_EQ(ask(teller, "secret\n"), json_of(report()) + "\n");
}

TEST(Teller, LeavesTheProgramsHandlerAlone) {
    struct sigaction mine = {};
    mine.sa_handler = [](int) {};
    ASSERT_EQ(sigaction(SIGURG, &mine, nullptr), 0);
    Teller::Options options;
    options.signal = SIGURG;
    EXPECT_THROW(Teller(options, report, silent()), Error);
}

TEST(Teller, SignalsHaveNames) {
    EXPECT_EQ(signal_named("USR1"), SIGUSR1);
    EXPECT_EQ(signal_named("SIGUSR2"), SIGUSR2);
    EXPECT_EQ(signal_named(std::to_string(SIGHUP)), SIGHUP);
    for (const char* const wrong : {"", "SIG", "KILL", "9", "usr1", "SEGV"}) {
        EXPECT_THROW((void)signal_named(wrong), Error) << wrong;
    }
}

}  // namespace
}  // namespace trefoil::test
