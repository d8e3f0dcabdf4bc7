// SPDX-License-Identifier: BSD-3-Clause
// A file of the log, opened once per process however many communicators write into it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "topo/descriptor.hpp"

namespace trefoil {

/// Lines are appended whole, so that processes may share a file. Thread-safe.
class LogFile {
  public:
    /// The open file of that name, or a new one, readable by its owner alone. Throws
    /// Error(system_error).
    static std::shared_ptr<LogFile> open(const std::string& name);
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    void append(std::string_view line) noexcept;

  private:
    explicit LogFile(Descriptor file) : file_(std::move(file)) {}
    Descriptor file_;
};

/// `pattern` with its %r, %p, %h and %%. `rank` -1: "unknown".
std::string log_file_name(std::string_view pattern, int rank);

}  // namespace trefoil
