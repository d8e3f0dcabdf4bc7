// SPDX-License-Identifier: BSD-3-Clause
// The first words on new channels: every direction proves that it works before a call relies on it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "threads/executor/channels.hpp"
#include "threads/executor/control_messages.hpp"
#include "threads/executor/executor_options.hpp"
#include "threads/executor/failure.hpp"

namespace trefoil {

/// Runs between calls, in one thread, which then owns all groups.
class Greeting {
  public:
    Greeting(const Channels& channels, ControlMessages& controls, Failure& failure,
             const ExecutorOptions& options, Listen listen)
        : channels_(channels),
          controls_(controls),
          failure_(failure),
          options_(options),
          listen_(std::move(listen)) {}

    /// See Executor::announce_connecting().
    void announce() noexcept;
    /// See Executor::begin_greeting() and greet_for().
    void begin(std::size_t first_out, std::size_t first_in);
    bool greet_for(std::chrono::milliseconds patience);
    /// All directions that have been tried in vain so far: a cable in the wrong place shows in two
    /// of them. Each ends in ';'.
    std::string ungreeted_text() const;
    /// The number that the next announcement carries; one more with each greeting that succeeds.
    std::uint32_t next_set_up() const { return complete_ + 1; }

  private:
    bool listen_to_all();
    bool say_hello();
    bool is_complete();
    std::string silence_text() const;

    const Channels& channels_;
    ControlMessages& controls_;
    Failure& failure_;
    const ExecutorOptions& options_;
    Listen listen_;
    std::uint32_t complete_ = 0;  ///< set-ups
    // Of the set-up under way:
    std::vector<std::size_t> silent_;  ///< outgoing channels that wait for their hello
    std::size_t greeted_ = 0;          ///< incoming channels before this one have been greeted
    std::chrono::steady_clock::time_point deadline_;
};

}  // namespace trefoil
