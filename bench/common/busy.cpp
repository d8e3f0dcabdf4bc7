// SPDX-License-Identifier: BSD-3-Clause
// A thread waits for the end of the work, and writes once a second until then.
#include "bench/common/busy.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace trefoil::tool {

Busy::Busy(const std::string& what) {
    if (isatty(STDERR_FILENO) == 1) {
        thread_ = std::thread([this, what] { show(what); });
    }
}

Busy::~Busy() {
    if (!thread_.joinable()) {
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Busy::show(const std::string& what) {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    std::size_t longest = 0;
    for (int seconds = 1;
         !changed_.wait_until(lock, begin + std::chrono::seconds(seconds), [&] { return over_; });
         ++seconds) {
        const std::string line = fmt::format("trefoil: {}, {} s", what, seconds);
        longest = line.size();
        fmt::print(stderr, "\r{}", line);
        std::fflush(stderr);
    }
    if (longest > 0) {
        fmt::print(stderr, "\r{:{}}\r", "", longest);
    }
}

}  // namespace trefoil::tool
