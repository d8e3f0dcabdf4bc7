// SPDX-License-Identifier: BSD-3-Clause
// The environment is read, but not by a program that runs with other rights than its caller's.
#include "topo/variable.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace trefoil {
namespace {

/// Exit codes of the copy that runs itself.
enum Answer : int { trusts_it = 11, ignores_it = 12, wrong = 13 };

TEST(Variable, IsNothingWhenItIsEmpty) {
    setenv("TREFOIL_JUST_A_TEST", "x", 1);
    EXPECT_EQ(environment_variable("TREFOIL_JUST_A_TEST"), "x");
    EXPECT_FALSE(ignores_environment());
    setenv("TREFOIL_JUST_A_TEST", "", 1);
    EXPECT_EQ(environment_variable("TREFOIL_JUST_A_TEST"), std::nullopt);
    unsetenv("TREFOIL_JUST_A_TEST");
    EXPECT_EQ(environment_variable("TREFOIL_JUST_A_TEST"), std::nullopt);
}

/// What the copy of the test below runs.
TEST(Variable, DISABLED_AnswersForASetUidProgram) {
    const bool there = environment_variable("TREFOIL_TRACE").has_value();
    _exit(geteuid() == getuid() ? wrong : there ? trusts_it : ignores_it);
}

TEST(Variable, IsNothingInASetUidProgram) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "only root can make a program that runs as somebody else";
    }
    constexpr uid_t somebody = 65534;
    std::string folder = testing::TempDir() + "/trefoil_variable_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    const std::string copy = folder + "/program";
    ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
    std::filesystem::copy_file("/proc/self/exe", copy);
    ASSERT_EQ(chown(copy.c_str(), somebody, somebody), 0);
    ASSERT_EQ(chmod(copy.c_str(), 04755), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        setenv("TREFOIL_TRACE", "/tmp/never-written", 1);
        execl(copy.c_str(), copy.c_str(), "--gtest_also_run_disabled_tests",
              "--gtest_filter=*AnswersForASetUidProgram", nullptr);
        _exit(1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    std::filesystem::remove_all(folder);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == wrong) {
        GTEST_SKIP() << "this file system does not let programs run as somebody else (nosuid)";
    }
    EXPECT_EQ(WEXITSTATUS(status), ignores_it);
}

}  // namespace
}  // namespace trefoil
