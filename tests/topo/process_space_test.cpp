// SPDX-License-Identifier: BSD-3-Clause
// Which namespaces a process lives in: the same for a child, another one after unshare().
#include "topo/process_space.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

namespace trefoil {
namespace {

/// What `body` returns in a forked child; -1 where that has not ended properly.
int in_child(const std::function<int()>& body) {
    const pid_t child = fork();
    if (child == 0) {
        _exit(body());
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ProcessSpace, NamesBootAndNamespace) {
    EXPECT_FALSE(boot_text().empty());
    EXPECT_LE(boot_text().size(), 39U);
    EXPECT_EQ(own_namespace("pid").substr(0, 5), "pid:[");
    EXPECT_EQ(own_namespace("net").substr(0, 5), "net:[");
    EXPECT_EQ(own_namespace("no-such-kind"), "");
    EXPECT_EQ(process_space(), boot_text() + own_namespace("pid"));
}

TEST(ProcessSpace, IsThatOfTheParent) {
    const std::string mine = process_space();
    EXPECT_EQ(in_child([&] { return process_space() == mine ? 0 : 1; }), 0);
}

TEST(ProcessSpace, IsAskedAnew) {
    const std::string mine = own_namespace("net");
    const int told = in_child([&] {
        if (unshare(CLONE_NEWNET) != 0) {
            return 77;
        }
        const std::string now = own_namespace("net");
        return now != mine && now.substr(0, 5) == "net:[" ? 0 : 1;
    });
    if (told == 77) {
        GTEST_SKIP() << "a namespace of its own needs root";
    }
    EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace trefoil
