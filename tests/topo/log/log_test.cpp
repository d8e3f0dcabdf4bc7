// SPDX-License-Identifier: BSD-3-Clause
// The log: what is wanted, where it goes, and how a line looks.
#include "topo/log/log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/variable.hpp"
#include "topo/error.hpp"
#include "topo/host.hpp"
#include "topo/log/log_file.hpp"

namespace trefoil::test {
namespace {

std::string stderr_of(const std::function<void()>& work) {
    testing::internal::CaptureStderr();
    work();
    return testing::internal::GetCapturedStderr();
}

std::string contents(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

LogRequest wanting(const char* text) {
    LogRequest request;
    request.wanted = parse_log(text);
    return request;
}

std::string refusal_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::invalid_argument);
        return error.what();
    }
    ADD_FAILURE() << "was taken";
    return {};
}

TEST(LogMask, LevelsHoldAllTopics) {
    const LogMask mask = parse_log("info");
    EXPECT_TRUE(mask.has(LogLevel::info, LogTopic::choice));
    EXPECT_TRUE(mask.has(LogLevel::error, LogTopic::mpi));
    EXPECT_FALSE(mask.has(LogLevel::debug, LogTopic::choice));
    EXPECT_TRUE(parse_log("error").has(LogLevel::report, LogTopic::mpi));
    EXPECT_FALSE(parse_log("error").has(LogLevel::warning, LogTopic::call));
}

TEST(LogMask, NamedTopicsLeaveTheOthersTheirWarnings) {
    const LogMask mask = parse_log("debug,choice,mpi");
    EXPECT_TRUE(mask.has(LogLevel::debug, LogTopic::choice));
    EXPECT_TRUE(mask.has(LogLevel::debug, LogTopic::mpi));
    EXPECT_FALSE(mask.has(LogLevel::info, LogTopic::setup));
    EXPECT_TRUE(mask.has(LogLevel::warning, LogTopic::setup));
}

TEST(LogMask, WhatDoesNotExistIsRefusedWithWhatDoes) {
    for (const char* const text : {"", "loud", "report", "2", ",choice", "INFO"}) {
        const std::string refusal = refusal_of([&] { parse_log(text); });
        EXPECT_NE(refusal.find("there are error, warning, info, debug"), std::string::npos)
            << refusal;
    }
    for (const char* const text : {"info,", "info,choise", "debug,setup,,mpi", "info, choice"}) {
        const std::string refusal = refusal_of([&] { parse_log(text); });
        EXPECT_NE(refusal.find("there are setup, choice, transport"), std::string::npos) << refusal;
    }
}

TEST(LogFile, NamesSayWho) {
    EXPECT_EQ(log_file_name("a.%r.%p.%h.100%%", 3),
              "a.3." + std::to_string(getpid()) + "." + host_name() + ".100%");
    EXPECT_EQ(log_file_name("%r", -1), "unknown");
    check_log_file("%r%p%h%%");
    for (const char* const pattern : {"out.%n", "out%", "%"}) {
        EXPECT_NE(refusal_of([&] { check_log_file(pattern); }).find("%r (rank)"),
                  std::string::npos);
    }
}

TEST(LogVariables, AreRefusedByName) {
    const Variable level("TREFOIL_LOG", "info,nothing");
    EXPECT_NE(refusal_of(log_request_from_environment).find("TREFOIL_LOG=info,nothing"),
              std::string::npos);
}

TEST(LogVariables, AreRead) {
    const Variable level("TREFOIL_LOG", "debug,memory"), file("TREFOIL_LOG_FILE", "x.%r");
    const LogRequest request = log_request_from_environment();
    EXPECT_EQ(request.wanted, parse_log("debug,memory"));
    EXPECT_EQ(request.file, "x.%r");
}

/// Warnings look as they always have; the rest says whose it is.
TEST(Log, GoesToStderr) {
    const LogScope scope(std::make_shared<Log>(wanting("info,setup"), 7));
    EXPECT_EQ(stderr_of([] { log_warning(LogTopic::call, [] { return "rank 7 waits"; }); }),
              "trefoil: rank 7 waits\n");
    EXPECT_EQ(stderr_of([] { log_info(LogTopic::setup, [] { return "a\nb"; }); }),
              "trefoil: rank 7: setup: a\ntrefoil: rank 7: setup: b\n");
}

TEST(Log, MakesNoTextThatNobodyWants) {
    const LogScope scope(std::make_shared<Log>(wanting("info,setup"), 0));
    int made = 0;
    EXPECT_EQ(stderr_of([&] {
                  log_info(LogTopic::choice, [&] { return std::to_string(++made); });
                  log_debug(LogTopic::setup, [&] { return std::to_string(++made); });
              }),
              "");
    EXPECT_EQ(made, 0);
}

TEST(Log, ErrorsAloneLeaveOutWarningsButNotReports) {
    const LogScope scope(std::make_shared<Log>(wanting("error"), 0));
    EXPECT_EQ(stderr_of([] {
                  log_warning(LogTopic::call, [] { return "w"; });
                  log(LogLevel::report, LogTopic::mpi, [] { return "r"; });
              }),
              "trefoil: r\n");
}

/// A log that wants more does not make the others talk.
TEST(Log, ScopesNest) {
    const auto outer = std::make_shared<Log>(wanting("debug"), 1);
    const auto inner = std::make_shared<Log>(wanting("warning"), 2);
    const auto say = [] { log_debug(LogTopic::memory, [] { return "x"; }); };
    EXPECT_EQ(stderr_of([&] {
                  const LogScope first(outer);
                  {
                      const LogScope second(inner);
                      say();
                      const LogScope nothing(nullptr);
                      say();
                  }
                  say();
              }),
              "trefoil: rank 1: memory: x\n");
}

class LogInFile : public testing::Test {
  protected:
    LogInFile() {
        std::string pattern = testing::TempDir() + "/trefoil_log_XXXXXX";
        folder_ = mkdtemp(pattern.data());
    }
    ~LogInFile() override { std::filesystem::remove_all(folder_); }
    LogRequest request() const {
        LogRequest request = wanting("info");
        request.file = folder_ + "/%r.log";
        return request;
    }
    std::string folder_;
};

TEST_F(LogInFile, LinesHaveTimeLevelTopicAndRank) {
    const Log log(request(), 4);
    EXPECT_EQ(stderr_of([&] { log.write(LogLevel::info, LogTopic::choice, "ring"); }), "");
    const std::string line = contents(folder_ + "/4.log");
    EXPECT_EQ(line.substr(line.find(' ')), " info choice: rank 4: ring\n");
    EXPECT_EQ(line.find(':'), 2U) << line;
}

TEST_F(LogInFile, OneDescriptorServesAllLogsAndLinesStayWhole) {
    const auto descriptors = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    };
    const auto before = descriptors();
    {
        std::vector<std::unique_ptr<Log>> logs;
        std::vector<std::thread> threads;
        for (int i = 0; i < 8; ++i) {
            logs.push_back(std::make_unique<Log>(request(), 0));
            threads.emplace_back([&log = *logs.back()] {
                for (int n = 0; n < 100; ++n) {
                    log.write(LogLevel::info, LogTopic::call, std::string(50, 'x'));
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        EXPECT_EQ(descriptors(), before + 1);
    }
    EXPECT_EQ(descriptors(), before);
    std::istringstream lines(contents(folder_ + "/0.log"));
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        EXPECT_EQ(line.substr(line.find(' ')), " info call: rank 0: " + std::string(50, 'x'));
    }
    EXPECT_EQ(count, 800);
}

TEST_F(LogInFile, WhatCannotBeOpenedIsToldOnce) {
    LogRequest lost = request();
    lost.file = folder_ + "/none/there";
    const Log log(lost, 2);
    const std::string said = stderr_of([&] {
        log.write(LogLevel::warning, LogTopic::call, "a");
        log.write(LogLevel::warning, LogTopic::call, "b");
    });
    EXPECT_EQ(said, "trefoil: rank 2: cannot open " + lost.file +
                        " for the log: No such file or directory; it goes to stderr\n"
                        "trefoil: a\ntrefoil: b\n");
}

TEST(LogFunction, GetsAllInsteadOfStderrFromAnyThread) {
    std::mutex mutex;
    std::vector<std::string> got;
    LogRequest request = wanting("info");
    request.file = "/never/opened";
    request.function = [&](LogLevel level, const char* topic, const char* text) {
        const std::scoped_lock lock(mutex);
        got.push_back(std::string(to_string(level)) + " " + topic + " " + text);
        if (got.size() == 1) {
            throw std::runtime_error("a caller's defect");
        }
    };
    const auto log = std::make_shared<Log>(request, 0);
    EXPECT_EQ(stderr_of([&] {
                  for (int i = 0; i < 2; ++i) {
                      std::thread([&] {
                          const LogScope scope(log);
                          log_info(LogTopic::transport, [] { return "net"; });
                      }).join();
                  }
              }),
              "");
    EXPECT_EQ(got, std::vector<std::string>(2, "info transport net"));
}

}  // namespace
}  // namespace trefoil::test
