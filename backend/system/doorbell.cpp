// SPDX-License-Identifier: BSD-3-Clause
// The doorbell: a flag that says that it was rung, and an event file that ends the sleep.
#include "backend/system/doorbell.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "topo/error.hpp"

namespace trefoil {

Doorbell::Doorbell() : file_(Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
    if (!file_.is_open()) {
        const int error = errno;
        throw Error(Status::system_error, std::string("cannot create an event file: ") +
                                              std::strerror(error) + hint_for_files(error));
    }
}

// The file is written once per wait(), however often the bell is rung. Release: wait() sees what
// was written before each ring, also of those that found the bell rung.
void Doorbell::ring() noexcept {
    if (!rung_.exchange(true, std::memory_order_release)) {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = write(file_.number(), &one, sizeof one);
    }
}

bool Doorbell::wait(std::chrono::microseconds longest) noexcept {
    pollfd own{file_.number(), POLLIN, 0};
    return wait(longest, {&own, 1});
}

// The file is emptied before the flag is taken down. So a ring that finds the flag down writes the
// file after that, and the next sleep ends; nothing depends on how soon the flag is seen here. A
// ring that is told of now may write the file only later: then the next sleep ends for nothing.
bool Doorbell::wait(std::chrono::microseconds longest, std::span<pollfd> watched) noexcept {
    if (!rung_.load(std::memory_order_relaxed) && longest.count() > 0) {
        const timespec limit{static_cast<std::time_t>(longest.count() / 1000000),
                             static_cast<long>(longest.count() % 1000000) * 1000};
        ppoll(watched.data(), watched.size(), &limit, nullptr);
    }
    std::uint64_t count = 0;
    [[maybe_unused]] const auto bytes = read(file_.number(), &count, sizeof count);
    return rung_.exchange(false, std::memory_order_acquire);
}

}  // namespace trefoil
