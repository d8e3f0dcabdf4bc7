// SPDX-License-Identifier: BSD-3-Clause
// The launcher as `trefoil perf` uses it: rank 0 speaks; of the others only the cause of a failure.
#include "bench/run/launcher.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "bench/run/limits.hpp"
#include "bench/run/torus_net.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {
namespace {

struct Outcome {
    int code;
    std::string out, err;
};

Outcome launch_script(const std::string& script) {
    Job job;
    job.name = "test";
    job.ranks = 3;
    job.command = {"sh", "-c", script};
    job.output = Job::Output::first_rank;
    job.grace = std::chrono::milliseconds(2000);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = launch(job);
    return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(Launcher, only_the_first_rank_is_heard) {
    const Outcome outcome = launch_script("echo out $TREFOIL_RANK; echo err $TREFOIL_RANK >&2");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, "out 0\n");
    EXPECT_EQ(outcome.err, "err 0\n");
}

TEST(Launcher, a_rank_that_fails_alone_is_heard_too) {
    const Outcome outcome = launch_script("[ $TREFOIL_RANK != 2 ] || { echo broken >&2; exit 3; }");
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(outcome.err, "rank 2 said:\nbroken\n");
}

TEST(Launcher, ranks_that_fail_alike_are_heard_once) {
    const Outcome outcome =
        launch_script("[ $TREFOIL_RANK != 0 ] || sleep 0.2; echo unknown thing >&2; exit 2");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err, "unknown thing\n");
}

TEST(Launcher, a_killed_rank_is_named) {
    const Outcome outcome = launch_script("[ $TREFOIL_RANK != 1 ] || kill -9 $$");
    EXPECT_EQ(outcome.code, 137);
    EXPECT_NE(outcome.err.find("test: rank 1 was killed by signal 9"), std::string::npos);
}

TEST(Launcher, leaves_the_signal_mask_as_it_was) {
    sigset_t before, after;
    sigprocmask(SIG_BLOCK, nullptr, &before);
    launch_script("true");
    sigprocmask(SIG_BLOCK, nullptr, &after);
    for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
        EXPECT_EQ(sigismember(&before, s), sigismember(&after, s)) << s;
    }
}

TEST(Launcher, runs_each_rank_under_its_own_words_and_takes_a_store) {
    Job job;
    job.ranks = 2;
    job.output = Job::Output::plain;
    job.prefixes = {{"env", "WHO=first"}, {"env", "WHO=second"}};
    job.store = "192.0.2.1:7000";
    job.command = {"sh", "-c", "echo $TREFOIL_RANK $WHO $TREFOIL_STORE"};
    testing::internal::CaptureStdout();
    EXPECT_EQ(launch(job), 0);
    const std::string out = testing::internal::GetCapturedStdout();
    EXPECT_NE(out.find("0 first 192.0.2.1:7000\n"), std::string::npos) << out;
    EXPECT_NE(out.find("1 second 192.0.2.1:7000\n"), std::string::npos) << out;
}

TEST(Launcher, each_job_has_a_token_of_its_own_unless_the_user_gives_one) {
    unsetenv("TREFOIL_TOKEN");
    const std::string first = launch_script("echo $TREFOIL_TOKEN").out;
    EXPECT_EQ(first.size(), 33U) << first;
    EXPECT_NE(launch_script("echo $TREFOIL_TOKEN").out, first);
    setenv("TREFOIL_TOKEN", "mine", 1);
    EXPECT_EQ(launch_script("echo $TREFOIL_TOKEN").out, "mine\n");
    unsetenv("TREFOIL_TOKEN");
}

/// What reading the network "one" says when its file holds `text`; other.json is there, too.
std::string read_failure(const std::string& text) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("nets" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    std::ofstream(folder / "other.json") << "{}";
    if (!text.empty()) {
        std::ofstream(folder / "one.json") << text;
    }
    std::string failure;
    try {
        const TorusNet net = read_torus_net("one", folder);
        EXPECT_EQ(net.torus, "2");
        EXPECT_EQ(net.namespaces, (std::vector<std::string>{"a", "b"}));
        EXPECT_EQ(net.delay_us, 100);
    } catch (const Error& error) {
        failure = error.what();
    }
    std::filesystem::remove_all(folder);
    return failure;
}

TEST(TorusNet, is_read_or_refused_with_a_reason) {
    const std::string good = R"({"torus": "2", "nics": "+0=p0", "namespaces": ["a", "b"],
                                 "bits_per_second": 5e7, "delay_ns": 100000, "meeting_addresses": ["192.0.2.1", "192.0.2.2"]})";
    EXPECT_EQ(read_failure(good), "");
    EXPECT_NE(read_failure("").find("no network \"one\", but other"), std::string::npos);
    EXPECT_NE(read_failure("{").find("cannot be understood"), std::string::npos);
    EXPECT_NE(read_failure("{}").find("torus"), std::string::npos);
    const std::string lacking = R"({"torus": "2", "nics": "", "namespaces": ["a", "b"],
                                    "bits_per_second": null, "meeting_addresses": ["192.0.2.1"]})";
    EXPECT_NE(read_failure(lacking).find("address"), std::string::npos);
}

TEST(Limits, control_groups_of_both_versions_say_how_many_processes_they_allow) {
    const auto root =
        std::filesystem::temp_directory_path() / ("trefoil-limits-" + std::to_string(getpid()));
    const auto write = [&](const std::string& file, const std::string& text) {
        std::filesystem::create_directories((root / file).parent_path());
        std::ofstream(root / file) << text;
    };
    const auto room = [&](const std::string& groups) {
        write("groups", groups);
        return room_in_control_groups(root / "groups", root);
    };
    write("a/b/pids.max", "max\n");
    write("a/b/pids.current", "7\n");
    EXPECT_EQ(room("0::/a/b\n"), std::nullopt);
    write("a/pids.max", "100\n");
    write("a/pids.current", "40\n");
    EXPECT_EQ(room("0::/a/b\n"), 60U) << "a limit of the group above";
    write("pids/c/pids.max", "10\n");
    write("pids/c/pids.current", "12\n");
    EXPECT_EQ(room("3:cpu:/a\n2:pids:/c\n"), 0U);
    EXPECT_EQ(room("nonsense\n"), std::nullopt);
    std::filesystem::remove_all(root);
}

TEST(Launcher, refuses_a_job_without_ranks_or_program) {
    Job job;
    job.command = {"true"};
    job.ranks = 0;
    EXPECT_THROW(launch(job), Error);
    job.ranks = 1;
    job.command.clear();
    EXPECT_THROW(launch(job), Error);
}

}  // namespace
}  // namespace trefoil::tool
