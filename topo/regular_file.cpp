// SPDX-License-Identifier: BSD-3-Clause
// Reads a file that was seen to be a regular one.
#include "topo/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

#include "topo/error.hpp"

namespace trefoil {

namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20;

}  // namespace

std::string read_regular_file(const std::string& path, const std::string& kind) {
    const auto fail = [&] {
        throw Error(Status::not_found,
                    "the " + kind + " " + path + " cannot be read: " + std::strerror(errno));
    };
    // A pipe that nobody writes to is opened at once, too.
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        fail();
    }
    const auto close_file = [](const int* number) { close(*number); };
    const std::unique_ptr<const int, decltype(close_file)> closer(&file, close_file);
    struct stat status {};
    if (fstat(file, &status) != 0) {
        fail();
    }
    if (!S_ISREG(status.st_mode)) {
        throw Error(Status::invalid_argument, kind + " " + path + " is not a regular file");
    }
    std::string text;
    std::array<char, 65536> piece;
    for (ssize_t bytes = 0; (bytes = read(file, piece.data(), piece.size())) != 0;) {
        if (bytes < 0 && errno != EINTR) {
            fail();
        }
        text.append(piece.data(), static_cast<std::size_t>(bytes < 0 ? 0 : bytes));
        if (text.size() > most_bytes) {
            throw Error(Status::invalid_argument, kind + " " + path + " has more than 16 MiB");
        }
    }
    return text;
}

}  // namespace trefoil
