// SPDX-License-Identifier: BSD-3-Clause
// The launcher as `trefoil perf` uses it: rank 0 speaks; of the others only the cause of a failure.
#include "bench/launcher.hpp"

#include <gtest/gtest.h>
#include <signal.h>

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
