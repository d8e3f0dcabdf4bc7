// SPDX-License-Identifier: BSD-3-Clause
// Runs the built `trefoil` command and keeps what it wrote; every wait is bounded.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace trefoil::test {

struct ToolResult {
    int code = -1;  ///< exit code, 128 + signal, or -1 when it did not end in time
    std::string out, err;
};

/// A started command. It is killed when it still runs at the end of the object's life.
class Tool {
  public:
    explicit Tool(const std::vector<std::string>& arguments);
    ~Tool();
    Tool(const Tool&) = delete;
    Tool& operator=(const Tool&) = delete;

    pid_t pid() const { return pid_; }
    void signal(int number) const;
    /// Until the standard output holds `text`; false after some seconds.
    bool wrote(const std::string& text) const;
    ToolResult wait(std::chrono::seconds limit = std::chrono::seconds(180));
    std::string out() const;

  private:
    std::string out_file_, err_file_;
    pid_t pid_ = -1;
    bool ended_ = false;
};

/// Runs `trefoil` with these arguments to its end.
ToolResult run_tool(const std::vector<std::string>& arguments,
                    std::chrono::seconds limit = std::chrono::seconds(180));

/// Whether the condition becomes true in time.
bool becomes_true(const std::function<bool()>& condition,
                  std::chrono::seconds limit = std::chrono::seconds(180));

std::vector<std::string> lines_of(const std::string& text);

}  // namespace trefoil::test
