// SPDX-License-Identifier: BSD-3-Clause
// Moving descriptors away from 0 to 2, and knowing one's own again.
#include "topo/descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace trefoil {

namespace {

/// -1, with errno, where that is not possible.
int above_standard(int opened) noexcept {
    if (opened < 0 || opened > STDERR_FILENO) {
        return opened;
    }
    const int moved = fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int error = errno;
    close(opened);
    errno = error;
    return moved;
}

}  // namespace

Descriptor::Descriptor(int opened) noexcept : number_(above_standard(opened)) {
    struct stat now {};
    if (is_open() && fstat(number_, &now) == 0) {
        device_ = now.st_dev;
        file_ = now.st_ino;
    }
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), device_(other.device_), file_(other.file_) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(device_, other.device_);
    std::swap(file_, other.file_);
    return *this;
}

Descriptor::~Descriptor() {
    if (is_intact()) {
        close(number_);
    }
}

bool Descriptor::is_intact() const noexcept {
    struct stat now {};
    return is_open() && fstat(number_, &now) == 0 && now.st_dev == device_ && now.st_ino == file_;
}

std::string hint_for_files(int error) {
    return error == EMFILE   ? "; raise the limit of open files (ulimit -n)"
           : error == ENFILE ? "; the system's table of open files is full (fs.file-max)"
                             : "";
}

void hold_standard_descriptors() noexcept {
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; ++i) {
        if (fcntl(i, F_GETFD) < 0) {
            const int held = open("/dev/null", O_RDWR | O_CLOEXEC);  // the lowest that is free
            if (held > STDERR_FILENO) {  // another thread of the program was faster
                close(held);
            }
        }
    }
}

}  // namespace trefoil
