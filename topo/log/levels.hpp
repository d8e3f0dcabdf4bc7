// SPDX-License-Identifier: BSD-3-Clause
// How weighty words are, and what they are about.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trefoil {

/// The values equal trefoil_log_level_t.
enum class LogLevel : std::uint8_t {
    report = 0,   ///< what the user asked for by a setting of its own: never left out
    error = 1,    ///< what ends the job, where no status can tell it
    warning = 2,  ///< it goes on, but not as it should
    info = 3,     ///< what was set up and chosen, once
    debug = 4,    ///< the same, for each piece
};

enum class LogTopic : std::uint8_t {
    setup,      ///< who the ranks are, the torus, threads, variables
    choice,     ///< the algorithm of each new call
    transport,  ///< backends, providers, NICs, connections
    memory,     ///< what is kept, and what is given up
    call,       ///< what a running call waits for, and why it failed
    trace,      ///< the timeline
    mpi,        ///< the MPI layer
};

inline constexpr std::array<std::string_view, 5> log_level_names{"report", "error", "warning",
                                                                 "info", "debug"};
inline constexpr std::array<std::string_view, 7> log_topic_names{
    "setup", "choice", "transport", "memory", "call", "trace", "mpi"};

constexpr std::string_view to_string(LogLevel level) {
    return log_level_names[static_cast<std::size_t>(level)];
}
constexpr std::string_view to_string(LogTopic topic) {
    return log_topic_names[static_cast<std::size_t>(topic)];
}
std::optional<LogTopic> log_topic_named(std::string_view name);

/// A set of pairs of level and topic, one bit each.
class LogMask {
  public:
    constexpr LogMask() = default;
    constexpr explicit LogMask(std::uint64_t bits) : bits_(bits) {}
    /// All topics up to `most`.
    static constexpr LogMask up_to(LogLevel most) {
        LogMask mask;
        for (std::size_t t = 0; t < log_topic_names.size(); ++t) {
            mask.add(most, static_cast<LogTopic>(t));
        }
        return mask;
    }
    /// This topic up to `most`.
    constexpr void add(LogLevel most, LogTopic topic) {
        for (std::size_t level = 0; level <= static_cast<std::size_t>(most); ++level) {
            bits_ |= bit(static_cast<LogLevel>(level), topic);
        }
    }
    constexpr bool has(LogLevel level, LogTopic topic) const {
        return (bits_ & bit(level, topic)) != 0;
    }
    constexpr std::uint64_t bits() const { return bits_; }
    friend constexpr bool operator==(const LogMask&, const LogMask&) = default;

  private:
    static constexpr std::uint64_t bit(LogLevel level, LogTopic topic) {
        return std::uint64_t{1} << (static_cast<unsigned>(level) * 8 +
                                    static_cast<unsigned>(topic));
    }
    static_assert(log_topic_names.size() <= 8);

    std::uint64_t bits_ = 0;
};

}  // namespace trefoil
