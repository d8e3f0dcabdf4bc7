// SPDX-License-Identifier: BSD-3-Clause
// The time left is what the rest takes if it goes on as it went so far.
#include "bench/sim/progress.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace trefoil::tool {

Progress::~Progress() {
    if (shown_) {
        fmt::print(stderr, "\r{:80}\r", "");
    }
}

void Progress::tell(const std::string& what, std::size_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (!wanted_ || now - last_ < std::chrono::milliseconds(200)) {
        return;
    }
    last_ = now;
    shown_ = true;
    const double spent = std::chrono::duration<double>(now - begin_).count();
    const double left =
        done == 0 ? 0 : spent / static_cast<double>(done) * static_cast<double>(all_ - done);
    fmt::print(stderr, "\r{:80}\r{} of {}: {}{}", "", done + 1, all_, what,
               done == 0 ? "" : fmt::format(", about {:.0f} s left", left));
    std::fflush(stderr);
}

}  // namespace trefoil::tool
