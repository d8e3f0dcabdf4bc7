// SPDX-License-Identifier: BSD-3-Clause
// The arena in a process whose program closes descriptors and sets limits as it likes.
#include "backend/memory/memory_arena.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "topo/error.hpp"

namespace trefoil::memory {
namespace {

constexpr std::size_t some_pages = std::size_t{1} << 16;

/// What `body` returns in a child; a signal that ends it gives -1.
template <typename Body>
int in_a_process_of_its_own(Body&& body) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(body());
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Arena, TakesNoStandardDescriptor) {
    EXPECT_EQ(in_a_process_of_its_own([] {
                  close(0);
                  close(1);
                  close(2);
                  const Arena::Place place = Arena::take(some_pages);
                  return place.arena->file() > 2 && fcntl(0, F_GETFD) < 0 &&
                                 fcntl(1, F_GETFD) < 0 && fcntl(2, F_GETFD) < 0
                             ? 0
                             : 1;
              }),
              0);
}

TEST(Arena, HeedsALimitThatIsSetLater) {
    EXPECT_EQ(in_a_process_of_its_own([] {
                  const Arena::Place first = Arena::take(some_pages);
                  const rlimit low{some_pages / 2, some_pages / 2};
                  if (setrlimit(RLIMIT_FSIZE, &low) != 0) {
                      return 2;
                  }
                  try {
                      Arena::take(some_pages);
                      return 3;
                  } catch (const Error& error) {
                      return std::string(error.what()).find("ulimit -f") == std::string::npos ? 1
                                                                                              : 0;
                  }
              }),
              0);
}

/// Its number is that of another file then.
TEST(Arena, GrowsNoFileButItsOwn) {
    EXPECT_EQ(in_a_process_of_its_own([] {
                  const Arena::Place first = Arena::take(some_pages);
                  const int number = first.arena->file();
                  closefrom(3);
                  const int of_the_program = open("/dev/shm", O_TMPFILE | O_RDWR, 0600);
                  if (dup2(of_the_program, number) != number) {
                      return 2;
                  }
                  const Arena::Place second = Arena::take(some_pages);
                  struct stat status {};
                  return fstat(number, &status) != 0      ? 3
                         : status.st_size != 0            ? 4
                         : second.arena->file() == number ? 5
                                                          : 0;
              }),
              0);
}

}  // namespace
}  // namespace trefoil::memory
