// SPDX-License-Identifier: BSD-3-Clause
// The one way in which the library says something to people, beside the errors that it returns.
#pragma once

#include <atomic>
#include <concepts>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "topo/log/levels.hpp"
#include "topo/log/log_request.hpp"

namespace trefoil {

class LogFile;

/// Where the words of one communicator go: to the caller's function, else to a file, else to
/// stderr. Thread-safe. Does not change after it was made.
class Log {
  public:
    /// `rank` -1: not known yet. The file is opened at the first words, and shared by all logs of
    /// the process that name it.
    Log(LogRequest request, int rank);
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    bool wants(LogLevel level, LogTopic topic) const { return request_.wanted.has(level, topic); }
    /// Whether or not they are wanted. Words that cannot be written are lost.
    void write(LogLevel level, LogTopic topic, std::string_view text) const noexcept;

  private:
    LogFile* file() const;

    LogRequest request_;
    int rank_;
    mutable std::once_flag opening_;
    mutable std::shared_ptr<LogFile> file_;  ///< set by opening_; null: it cannot be opened
};

/// While it lives, what this thread says goes to `log`; scopes nest. Null changes nothing.
class LogScope {
  public:
    explicit LogScope(std::shared_ptr<const Log> log);
    ~LogScope();
    LogScope(const LogScope&) = delete;
    LogScope& operator=(const LogScope&) = delete;

  private:
    std::shared_ptr<const Log> log_;
    const std::shared_ptr<const Log>* outer_ = nullptr;
};

/// Of the innermost scope of this thread, for threads that it starts; else that of the process,
/// which the environment describes (what is not valid in it counts as not set there).
std::shared_ptr<const Log> current_log();

namespace detail {
/// What any log of this process has ever wanted.
extern std::atomic<std::uint64_t> wanted_by_any;
void say(LogLevel level, LogTopic topic, std::string_view text) noexcept;
bool wanted_here(LogLevel level, LogTopic topic) noexcept;
}  // namespace detail

/// Costs one relaxed load where nobody wants it. Not for the data path: what is wanted is written
/// at once.
inline bool log_wants(LogLevel level, LogTopic topic) noexcept {
    // Relaxed: who made a log that wants more says its words in the same thread or later.
    return LogMask(detail::wanted_by_any.load(std::memory_order_relaxed)).has(level, topic) &&
           detail::wanted_here(level, topic);
}

/// `text` makes the string, and is only called when it is wanted. Where there is no memory for it,
/// the words are lost.
template <std::invocable Text>
void log(LogLevel level, LogTopic topic, Text&& text) noexcept {
    if (log_wants(level, topic)) {
        try {
            detail::say(level, topic, text());
        } catch (...) {
            return;
        }
    }
}

template <std::invocable Text>
void log_warning(LogTopic topic, Text&& text) noexcept {
    log(LogLevel::warning, topic, text);
}
template <std::invocable Text>
void log_info(LogTopic topic, Text&& text) noexcept {
    log(LogLevel::info, topic, text);
}
template <std::invocable Text>
void log_debug(LogTopic topic, Text&& text) noexcept {
    log(LogLevel::debug, topic, text);
}

}  // namespace trefoil
