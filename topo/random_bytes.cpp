// SPDX-License-Identifier: BSD-3-Clause
// By getrandom, or by the file of the same generator: some sandboxes and old kernels lack the call.
#include "topo/random_bytes.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "topo/error.hpp"

namespace trefoil {

void fill_randomly(std::span<char> bytes) {
    std::span<char> rest = bytes;
    while (!rest.empty()) {
        const ssize_t got = getrandom(rest.data(), rest.size(), 0);
        if (got < 0 && errno != EINTR) {
            const int error = errno;
            std::ifstream file("/dev/urandom", std::ios::binary);
            if (file.read(rest.data(), static_cast<std::streamsize>(rest.size()))) {
                return;
            }
            throw Error(Status::system_error, std::string("the system gives no random numbers: ") +
                                                  std::strerror(error) +
                                                  ", and /dev/urandom cannot be read");
        }
        rest = rest.subspan(got > 0 ? static_cast<std::size_t>(got) : 0);
    }
}

}  // namespace trefoil
