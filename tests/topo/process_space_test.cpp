// SPDX-License-Identifier: BSD-3-Clause
// Which namespaces a process lives in, and which processes are seen to have ended: the same for a
// child, another one after unshare(), and nothing where nothing is seen.
#include "topo/process_space.hpp"

#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "tests/sanitizers.hpp"
#include "topo/process_state.hpp"

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

constexpr int no_namespaces = 77;

void expect_success(int told) {
    if (told == no_namespaces) {
        GTEST_SKIP() << "a namespace of its own needs root";
    }
    EXPECT_EQ(told, 0);
}

TEST(ProcessSpace, NamesBootAndNamespace) {
    EXPECT_FALSE(boot_text().empty());
    EXPECT_LE(boot_text().size(), 39U);
    EXPECT_EQ(own_namespace("pid").substr(0, 5), "pid:[");
    EXPECT_EQ(own_namespace("net").substr(0, 5), "net:[");
    EXPECT_EQ(own_namespace("no-such-kind"), "");
    EXPECT_EQ(boot_space(), boot_text());
    EXPECT_EQ(network_space(), own_namespace("net"));
    EXPECT_EQ(process_space(), boot_text() + own_namespace("pid") + own_namespace("time"));
}

TEST(ProcessSpace, IsThatOfTheParent) {
    const std::string mine = process_space();
    EXPECT_EQ(in_child([&] { return process_space() == mine ? 0 : 1; }), 0);
}

// Else a child in a process namespace of its own, where it may have its parent's number, would be
// taken for it.
TEST(ProcessSpace, AChildHasANumberOfItsOwn) {
    const std::uint64_t mine = process_number();
    EXPECT_EQ(process_number(), mine);
    EXPECT_EQ(in_child([&] { return process_number() != mine ? 0 : 1; }), 0);
}

TEST(ProcessSpace, IsAskedAnew) {
    const std::string mine = own_namespace("net");
    const int told = in_child([&] {
        if (unshare(CLONE_NEWNET) != 0) {
            return no_namespaces;
        }
        const std::string now = own_namespace("net");
        return now != mine && now.substr(0, 5) == "net:[" ? 0 : 1;
    });
    expect_success(told);
}

/// Nothing is there, or the folder of another namespace's processes.
bool hide_proc(const char* options = nullptr) {
    return unshare(CLONE_NEWNS) == 0 &&
           mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           mount("none", "/proc", options == nullptr ? "tmpfs" : "proc", 0, options) == 0;
}

/// What `body` returns in a child that hides /proc first, or in a child of it in a process
/// namespace of its own, which sees the /proc of its parent.
int without_proc(const std::function<int()>& body) {
    return in_child([&] { return hide_proc() ? body() : no_namespaces; });
}
int with_foreign_proc(const std::function<int()>& body) {
    return in_child([&] { return unshare(CLONE_NEWPID) == 0 ? in_child(body) : no_namespaces; });
}

/// A child that lives until this goes.
struct Sleeper {
    const pid_t pid = fork();
    Sleeper() {
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            pause();
            _exit(0);
        }
    }
    ~Sleeper() {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
    }
};

TEST(ProcessSpace, WhatCannotBeSeenIsEqualToNothing) {
    expect_success(without_proc([] {
        const auto spaces = [] { return process_space() + network_space(); };
        const std::string mine = spaces();
        const bool is_mine = !mine.empty() && mine == spaces();
        return is_mine && in_child([&] { return mine == spaces() ? 1 : 0; }) == 0 ? 0 : 1;
    }));
}

TEST(ProcessState, OfThisHostsProcesses) {
    const Sleeper other;
    const ProcessState self = process_state(getpid());
    EXPECT_TRUE(self.known() && !self.ended() && !self.stopped());
    EXPECT_GT(self.started, 0U);
    EXPECT_FALSE(process_state(getpid(), self.started).ended());
    EXPECT_TRUE(process_state(getpid(), self.started + 1).ended()) << "only the number is the same";
    kill(other.pid, SIGSTOP);
    ASSERT_EQ(waitpid(other.pid, nullptr, WUNTRACED), other.pid);
    EXPECT_TRUE(process_state(other.pid).stopped());
    kill(other.pid, SIGKILL);
    siginfo_t info{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(other.pid), &info, WEXITED | WNOWAIT), 0);
    EXPECT_TRUE(process_state(other.pid).ended()) << "its parent has not noticed";
    ASSERT_EQ(waitpid(other.pid, nullptr, 0), other.pid);
    EXPECT_TRUE(process_state(other.pid).ended());
    EXPECT_FALSE(process_state(0).known());
    EXPECT_FALSE(process_state(-1).known()) << "a group is no process";
}

// Threads and the process itself may go between two looks at them.
TEST(ProcessState, WhoIsWatchedWhileItEndsIsNeverUnknown) {
    if (test::under_thread_sanitizer) {
        GTEST_SKIP() << "ThreadSanitizer has no threads in a forked process";
    }
    for (int round = 0; round < 100; ++round) {
        const pid_t pid = fork();
        if (pid == 0) {
            for (int thread = 0; thread < 8; ++thread) {
                std::thread([] { pause(); }).detach();
            }
            _exit(0);
        }
        std::thread reaper([pid] { waitpid(pid, nullptr, 0); });
        ProcessState state;
        do {
            state = process_state(pid);
        } while (state.known() && !state.ended());
        reaper.join();
        ASSERT_TRUE(state.ended()) << "in round " << round;
    }
}

TEST(ProcessState, WithoutProcNobodyLooksDead) {
    expect_success(without_proc([] {
        const Sleeper other;
        const bool alive =
            !process_state(other.pid).known() && !process_state(other.pid, 1).ended();
        kill(other.pid, SIGKILL);
        waitpid(other.pid, nullptr, 0);
        return alive && process_state(other.pid).ended() ? 0 : 1;
    }));
}

TEST(ProcessState, ByTheProcOfAnotherNamespaceNobodyLooksDead) {
    expect_success(with_foreign_proc([] {
        const Sleeper other;  // with a number that /proc has for another process, or not at all
        const bool alive =
            !process_state(other.pid).known() && !process_state(other.pid, 1).ended();
        kill(other.pid, SIGKILL);
        waitpid(other.pid, nullptr, 0);
        return alive && process_state(other.pid).ended() ? 0 : 1;
    }));
}

TEST(ProcessState, WhoIsHiddenDoesNotLookDead) {
    const Sleeper other;
    expect_success(in_child([&] {
        if (!hide_proc("hidepid=2") || setgroups(0, nullptr) != 0 || setgid(65534) != 0 ||
            setuid(65534) != 0) {
            return no_namespaces;
        }
        return access(("/proc/" + std::to_string(other.pid)).c_str(), F_OK) != 0 &&
                       !process_state(other.pid).ended()
                   ? 0
                   : 1;
    }));
}

TEST(ProcessState, AProcessLivesAsLongAsOneOfItsThreads) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        std::thread([&] {
            char byte = 0;
            close(ends[1]);
            (void)!read(ends[0], &byte, 1);
            _exit(0);
        }).detach();
        syscall(SYS_exit, 0);  // as pthread_exit() does, but past this framework's handlers
    }
    close(ends[0]);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (living_thread(child) == child && std::chrono::steady_clock::now() < until) {
        std::this_thread::yield();  // until its main thread has ended
    }
    EXPECT_NE(living_thread(child), child);
    EXPECT_EQ(access(("/proc/" + std::to_string(child) + "/task/" +
                      std::to_string(living_thread(child)) + "/fd/0")
                         .c_str(),
                     F_OK),
              access("/proc/self/fd/0", F_OK));
    EXPECT_TRUE(process_state(child).known());
    EXPECT_FALSE(process_state(child).ended());
    close(ends[1]);
    siginfo_t info{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    EXPECT_TRUE(process_state(child).ended());
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_EQ(living_thread(child), child) << "nothing is seen of it";
}

}  // namespace
}  // namespace trefoil
