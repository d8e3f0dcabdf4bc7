// SPDX-License-Identifier: BSD-3-Clause
// Descriptors of the library's own, which keep away from standard input, output and error.
#pragma once

#include <sys/types.h>

#include <string>

namespace trefoil {

/// Owns a descriptor. A program may have closed some of 0 to 2, and still print: its words must not
/// come out in a socket or in shared memory. So what is opened is moved to 3 or above.
class Descriptor {
  public:
    Descriptor() = default;
    /// Takes what a system call has returned. -1: that failed, and errno stays as it is.
    explicit Descriptor(int opened) noexcept;
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();

    int number() const { return number_; }
    bool is_open() const { return number_ >= 0; }
    /// False: the program has closed it (by closefrom(), say), and its number may be that of
    /// another file now. Such a one is not closed again.
    bool is_intact() const noexcept;

  private:
    int number_ = -1;
    dev_t device_ = 0;  // these two tell which file it is
    ino_t file_ = 0;
};

/// What to do about this error of opening a file, to follow its text; empty where no limit was met.
std::string hint_for_files(int error);

/// Opens /dev/null in the place of those of 0 to 2 that are closed, so that libraries below, which
/// open files when they like, get none of them. They stay until the process ends or executes
/// another program.
void hold_standard_descriptors() noexcept;

}  // namespace trefoil
