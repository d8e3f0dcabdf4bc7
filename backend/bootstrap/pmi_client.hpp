// SPDX-License-Identifier: BSD-3-Clause
// A conversation with a PMI-1 process manager: one question, one answer.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "backend/bootstrap/pmi_wire.hpp"

namespace trefoil::pmi {

/// Not thread-safe. Each wait is bounded by `until`. Throws Error(system_error) when the process
/// manager is gone, refuses or answers nonsense, Error(timeout) when it does not answer.
class Client {
  public:
    using Clock = std::chrono::steady_clock;

    explicit Client(int descriptor) : descriptor_(descriptor) {}
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    void greet(Clock::time_point until);
    void put(std::string_view key, std::string_view value, Clock::time_point until);
    std::string get(std::string_view key, Clock::time_point until);
    /// Ends when all processes of the job have called it. Puts from before can then be got.
    void barrier(Clock::time_point until);
    void say_good_bye(Clock::time_point until);

    /// The longest key and value that may be put.
    std::size_t key_limit() const { return key_limit_; }
    std::size_t value_limit() const { return value_limit_; }

  private:
    Words ask(const std::string& line, std::string_view answer, Clock::time_point until);
    void send_all(std::string_view text) const;
    std::string read_line(const std::string& question, Clock::time_point until);

    int descriptor_;
    std::string received_;  // and not yet consumed
    std::string space_;     // the process manager's name for the job's keys
    std::size_t key_limit_ = 0, value_limit_ = 0;
};

}  // namespace trefoil::pmi
