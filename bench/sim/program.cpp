// SPDX-License-Identifier: BSD-3-Clause
// Starts a program, with a file in memory as its input and a pipe for its output.
#include "bench/sim/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

[[noreturn]] void fail(const std::string& what, int error) {
    throw Error(Status::system_error, what + ": " + std::generic_category().message(error));
}

std::string read_all(int file) {
    std::string text;
    std::array<char, 4096> piece;
    for (ssize_t got = 0; (got = read(file, piece.data(), piece.size())) != 0;) {
        if (got > 0) {
            text.append(piece.data(), static_cast<std::size_t>(got));
        } else if (errno != EINTR) {
            break;
        }
    }
    return text;
}

int end_of(pid_t process) {
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

}  // namespace

MemoryFile::MemoryFile(const std::string& text) : file_(memfd_create("job", MFD_CLOEXEC)) {
    std::size_t written = 0;
    while (file_ >= 0 && written < text.size()) {
        const ssize_t more = write(file_, text.data() + written, text.size() - written);
        if (more < 0) {
            break;
        }
        written += static_cast<std::size_t>(more);
    }
    if (written < text.size() || file_ < 0) {
        const int error = errno;
        close(file_);
        fail("cannot keep " + std::to_string(text.size()) + " bytes in memory", error);
    }
}

MemoryFile::~MemoryFile() {
    close(file_);
}

std::string run_program(const std::string& path, const std::string& argument,
                        const MemoryFile& input) {
    std::array<int, 2> output;
    if (pipe2(output.data(), O_CLOEXEC) != 0 || lseek(input.file(), 0, SEEK_SET) != 0) {
        fail("cannot start " + path, errno);
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input.file(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    std::string program = path, word = argument;
    std::array<char*, 3> words{program.data(), word.data(), nullptr};
    pid_t process = 0;
    const int error = posix_spawn(&process, path.c_str(), &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(output[1]);
    std::string text = error == 0 ? read_all(output[0]) : "";
    close(output[0]);
    if (error != 0) {
        fail("cannot start " + path, error);
    }
    const int status = end_of(process);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        throw Error(
            Status::system_error,
            path + (WIFSIGNALED(status) ? " was ended by signal " + std::to_string(WTERMSIG(status))
                                        : " failed; its message is above"));
    }
    return text;
}

}  // namespace trefoil::tool
