// SPDX-License-Identifier: BSD-3-Clause
// Whole labelled lines out of chunks of output.
#include "bench/run/line_output.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace trefoil::tool {

namespace {
/// A "line" longer than this is cut: a rank that never ends a line must not fill the memory.
constexpr std::size_t longest_line = 1 << 20;
}  // namespace

bool write_all(int target, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(target, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {
            pollfd writable{target, POLLOUT, 0};
            poll(&writable, 1, 100);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

void LineOutput::feed(std::string_view text) {
    const std::size_t end = text.rfind('\n');
    if (end == std::string_view::npos) {
        unfinished_ += text;
        if (unfinished_.size() > longest_line) {
            finish();
        }
        return;
    }
    unfinished_ += text.substr(0, end + 1);
    write_lines(unfinished_);
    unfinished_ = text.substr(end + 1);
}

void LineOutput::finish() {
    if (!unfinished_.empty()) {
        unfinished_ += '\n';
        write_lines(unfinished_);
        unfinished_.clear();
    }
}

void LineOutput::write_lines(std::string_view lines) {
    if (label_.empty()) {
        write_out(lines);
        return;
    }
    std::string labelled;
    while (!lines.empty()) {
        const std::size_t end = lines.find('\n') + 1;
        labelled += label_;
        labelled += lines.substr(0, end);
        lines.remove_prefix(end);
    }
    write_out(labelled);
}

void LineOutput::write_out(std::string_view text) {
    if (!write_all(target_, text) && failure_ == 0) {
        failure_ = errno;
    }
}

}  // namespace trefoil::tool
