// SPDX-License-Identifier: BSD-3-Clause
// Passes one rank's output on in whole lines, each with a label, so that ranks do not mix.
#pragma once

#include <string>
#include <string_view>

namespace trefoil::tool {

class LineOutput {
  public:
    /// Lines go to file descriptor `target`, each preceded by `label`.
    LineOutput(int target, std::string label) : target_(target), label_(std::move(label)) {}

    /// Writes the lines that `text` completes and keeps the rest.
    void feed(std::string_view text);
    /// Writes an unfinished last line, with a newline.
    void finish();
    /// Why something could not be written, as errno has it; 0: all was.
    int failure() const { return failure_; }

  private:
    void write_lines(std::string_view lines);
    void write_out(std::string_view text);

    int failure_ = 0;
    int target_;
    std::string label_;
    std::string unfinished_;
};

/// Writes everything, however often the system takes only a part. Returns false when it cannot.
bool write_all(int target, std::string_view text);

}  // namespace trefoil::tool
