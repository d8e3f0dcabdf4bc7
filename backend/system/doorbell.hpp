// SPDX-License-Identifier: BSD-3-Clause
// A doorbell: one thread sleeps, any other thread of the process may wake it.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <span>

#include "topo/descriptor.hpp"

namespace trefoil {

/// ring() is for any thread; the rest for the owner. A ring that finds nobody waiting ends the next
/// wait().
class Doorbell {
  public:
    /// Throws Error(system_error) when no file descriptor is left.
    Doorbell();
    Doorbell(const Doorbell&) = delete;
    Doorbell& operator=(const Doorbell&) = delete;

    void ring() noexcept;
    /// Sleeps until rung or `longest` has passed; true: it was rung.
    bool wait(std::chrono::microseconds longest) noexcept;
    /// The same, and other files may end it, too; file() is among `watched`.
    bool wait(std::chrono::microseconds longest, std::span<pollfd> watched) noexcept;
    int file() const { return file_.number(); }

  private:
    Descriptor file_;
    std::atomic<bool> rung_{false};
};

}  // namespace trefoil
