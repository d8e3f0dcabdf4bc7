// SPDX-License-Identifier: BSD-3-Clause
// Threads of the library get no signals but those of their own faults, and a refusal is told.
#include "topo/own_thread.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace trefoil {
namespace {

sigset_t mask_of_this_thread() {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    return mask;
}

TEST(OwnThread, GetsNoSignalsButThoseOfItsFaults) {
    sigset_t inside{};
    start_thread([&inside] { inside = mask_of_this_thread(); }).join();
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGALRM, SIGCHLD, SIGPIPE}) {
        EXPECT_EQ(sigismember(&inside, number), 1) << number;
    }
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
        EXPECT_EQ(sigismember(&inside, number), 0) << number;
    }
    const sigset_t here = mask_of_this_thread();
    EXPECT_EQ(sigismember(&here, SIGTERM), 0) << "the program's thread goes on to get them";
}

struct RefusedThread {
    template <typename Work>
    explicit RefusedThread(Work&&) {
        throw std::system_error(EAGAIN, std::system_category());
    }
};

TEST(OwnThread, IsRefusedInWords) {
    try {
        start_thread<RefusedThread>([] {});
        FAIL() << "it was not refused";
    } catch (const NoThread& error) {
        EXPECT_EQ(error.status(), Status::system_error);
        EXPECT_NE(std::string(error.what()).find("ulimit -u"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace trefoil
