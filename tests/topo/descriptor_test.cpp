// SPDX-License-Identifier: BSD-3-Clause
// Descriptors of the library keep away from 0 to 2, and from numbers that are another file's now.
#include "topo/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace trefoil {
namespace {

bool is_open_number(int number) {
    return fcntl(number, F_GETFD) >= 0;
}

/// In a child, which may do without its standard descriptors.
template <typename Body>
bool holds_in_child(Body&& body) {
    const pid_t child = fork();
    if (child == 0) {
        _exit(body() ? 0 : 1);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Descriptor, IsNeverAStandardOne) {
    EXPECT_TRUE(holds_in_child([] {
        close(0);
        close(1);
        const Descriptor first(memfd_create("first", MFD_CLOEXEC));
        const Descriptor second(memfd_create("second", MFD_CLOEXEC));
        return first.number() > 2 && second.number() > 2 && !is_open_number(0) &&
               !is_open_number(1) && first.is_intact() && second.is_intact() &&
               (fcntl(first.number(), F_GETFD) & FD_CLOEXEC) != 0;
    }));
}

TEST(Descriptor, KeepsTheCauseOfAFailure) {
    const Descriptor none(open("/no/such/file", O_RDWR | O_CLOEXEC));
    EXPECT_EQ(errno, ENOENT);
    EXPECT_FALSE(none.is_open());
    EXPECT_FALSE(none.is_intact());
}

TEST(Descriptor, ClosesItsOwnFileAlone) {
    int number = -1;
    {
        Descriptor file(memfd_create("mine", MFD_CLOEXEC));
        const Descriptor moved(std::move(file));
        number = moved.number();
        EXPECT_TRUE(moved.is_intact());
        EXPECT_FALSE(file.is_open());  // NOLINT(bugprone-use-after-move): what it is for
    }
    EXPECT_FALSE(is_open_number(number));
    {
        const Descriptor file(memfd_create("mine", MFD_CLOEXEC));
        number = file.number();
        close(number);
        ASSERT_EQ(memfd_create("of another", MFD_CLOEXEC), number);
        EXPECT_FALSE(file.is_intact());
    }
    EXPECT_TRUE(is_open_number(number)) << "it was closed, and is another file's";
    close(number);
}

TEST(StandardDescriptors, AreHeldWhereTheyAreClosed) {
    EXPECT_TRUE(holds_in_child([] {
        close(0);
        close(2);
        hold_standard_descriptors();
        const int next = memfd_create("next", MFD_CLOEXEC);
        return next > 2 && is_open_number(0) && is_open_number(2) && write(2, "x", 1) == 1 &&
               (fcntl(1, F_GETFD) & FD_CLOEXEC) == 0;
    }));
}

// A filter of system calls has other cures than a limit.
TEST(Descriptor, ALimitIsNamedWhereItWasMetAlone) {
    EXPECT_NE(hint_for_files(EMFILE).find("ulimit -n"), std::string::npos);
    EXPECT_NE(hint_for_files(ENFILE), "");
    EXPECT_EQ(hint_for_files(EPERM), "");
}

}  // namespace
}  // namespace trefoil
