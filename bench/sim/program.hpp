// SPDX-License-Identifier: BSD-3-Clause
// Runs a program that reads a text and answers with another.
#pragma once

#include <string>

namespace trefoil::tool {

/// A text as a file that lives in memory. Throws Error(system_error).
class MemoryFile {
  public:
    explicit MemoryFile(const std::string& text);
    ~MemoryFile();
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    int file() const { return file_; }

  private:
    int file_ = -1;
};

/// What the program writes on its standard output. Its errors go where ours go. Throws
/// Error(system_error) when it cannot be started or does not end with 0.
std::string run_program(const std::string& path, const std::string& argument,
                        const MemoryFile& input);

}  // namespace trefoil::tool
