// SPDX-License-Identifier: BSD-3-Clause
// A line on a terminal for work that cannot say how far it is.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace trefoil::tool {

/// While it lives, from the second second on: "trefoil: WHAT, 12 s" on stderr, if that is a
/// terminal. Destroy it before anything is printed.
class Busy {
  public:
    explicit Busy(const std::string& what);
    /// Wipes the line.
    ~Busy();
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

  private:
    void show(const std::string& what);

    std::mutex mutex_;  ///< guards over_
    std::condition_variable changed_;
    bool over_ = false;
    std::thread thread_;  ///< last, as it uses the others; none where there is no terminal
};

}  // namespace trefoil::tool
