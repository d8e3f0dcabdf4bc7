// SPDX-License-Identifier: BSD-3-Clause
// One line on stderr that says what is under way and how much time is left.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace trefoil::tool {

class Progress {
  public:
    /// `wanted`: false says nothing. `all`: how many there are to do.
    Progress(bool wanted, std::size_t all) : wanted_(wanted), all_(all) {}
    /// Wipes the line.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// `done` are done, `what` is next. Writes at most five times a second.
    void tell(const std::string& what, std::size_t done);

  private:
    bool wanted_, shown_ = false;
    std::size_t all_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(), last_{};
};

}  // namespace trefoil::tool
