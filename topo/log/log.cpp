// SPDX-License-Identifier: BSD-3-Clause
// Where words go, and how a line looks.
#include "topo/log/log.hpp"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <mutex>

#include "topo/error.hpp"
#include "topo/log/log_file.hpp"
#include "topo/variable.hpp"

namespace trefoil {

namespace detail {

std::atomic<std::uint64_t> wanted_by_any{LogMask::up_to(LogLevel::warning).bits()};

}  // namespace detail

namespace {

thread_local const std::shared_ptr<const Log>* innermost = nullptr;

/// Before there is a communicator its rank is what a launcher's variable says.
int rank_by_environment() {
    for (const char* const name : {"TREFOIL_RANK", "PMIX_RANK", "PMI_RANK"}) {
        if (const auto text = environment_variable(name)) {
            const char* const end = text->data() + text->size();
            int rank = -1;
            const auto [stop, error] = std::from_chars(text->data(), end, rank);
            return error == std::errc() && stop == end ? rank : -1;
        }
    }
    return -1;
}

LogRequest valid_part_of_environment() {
    try {
        return log_request_from_environment();
    } catch (const Error&) {
        return {};  // a communicator that is made says so
    }
}

const std::shared_ptr<const Log>& log_of_process() {
    static const auto* const instance = new std::shared_ptr<const Log>(
        std::make_shared<Log>(valid_part_of_environment(), rank_by_environment()));
    return *instance;
}

const std::shared_ptr<const Log>& log_here() {
    return innermost != nullptr ? *innermost : log_of_process();
}

/// "14:03:59.123456".
std::string time_of_day() {
    using namespace std::chrono;
    const auto now = system_clock::now();
    const std::time_t seconds = system_clock::to_time_t(now);
    const auto rest = duration_cast<microseconds>(now.time_since_epoch()).count() % 1'000'000;
    std::tm parts{};
    localtime_r(&seconds, &parts);
    char text[32];
    const int length = std::snprintf(text, sizeof text, "%02d:%02d:%02d.%06d", parts.tm_hour,
                                     parts.tm_min, parts.tm_sec, static_cast<int>(rest));
    return {text, static_cast<std::size_t>(length)};
}

std::string rank_text(int rank) {
    return rank < 0 ? std::string() : "rank " + std::to_string(rank) + ": ";
}

/// For people who look at a terminal: warnings as they are, and whose words all others are.
std::string terminal_start(LogLevel level, LogTopic topic, int rank) {
    std::string start = "trefoil: ";
    if (level > LogLevel::warning) {
        start += rank_text(rank) + std::string(to_string(topic)) + ": ";
    }
    return start;
}

std::string file_start(LogLevel level, LogTopic topic, int rank) {
    return time_of_day() + " " + std::string(to_string(level)) + " " +
           std::string(to_string(topic)) + ": " + rank_text(rank);
}

/// `text` with `start` before each of its lines.
std::string lines_of(const std::string& start, std::string_view text) {
    std::string lines;
    while (true) {
        const std::size_t end = text.find('\n');
        lines.append(start).append(text.substr(0, end)) += '\n';
        if (end >= text.size() - 1) {  // none, or one at the end
            return lines;
        }
        text.remove_prefix(end + 1);
    }
}

void write_to_terminal(const std::string& lines) {
    std::fwrite(lines.data(), 1, lines.size(), stderr);  // at once, so that they stay together
}

}  // namespace

Log::Log(LogRequest request, int rank) : request_(std::move(request)), rank_(rank) {
    // Never taken back: what nobody wants any more costs a call, and is left out there.
    detail::wanted_by_any.fetch_or(request_.wanted.bits(), std::memory_order_relaxed);
}

Log::~Log() = default;

LogFile* Log::file() const {
    std::call_once(opening_, [this] {
        try {
            file_ = LogFile::open(log_file_name(request_.file, rank_));
        } catch (const Error& error) {
            write_to_terminal("trefoil: " + rank_text(rank_) + error.what() +
                              "; it goes to stderr\n");
        }
    });
    return file_.get();
}

void Log::write(LogLevel level, LogTopic topic, std::string_view text) const noexcept {
    try {
        if (request_.function) {
            request_.function(level, std::string(to_string(topic)).c_str(),
                              std::string(text).c_str());
            return;
        }
        LogFile* const to = request_.file.empty() ? nullptr : file();
        if (to != nullptr) {
            to->append(lines_of(file_start(level, topic, rank_), text));
        } else {
            write_to_terminal(lines_of(terminal_start(level, topic, rank_), text));
        }
    } catch (...) {  // also what the caller's function throws: words are not worth a job
        return;
    }
}

LogScope::LogScope(std::shared_ptr<const Log> log) : log_(std::move(log)), outer_(innermost) {
    if (log_) {
        innermost = &log_;
    }
}

LogScope::~LogScope() {
    innermost = outer_;
}

std::shared_ptr<const Log> current_log() {
    return log_here();
}

bool detail::wanted_here(LogLevel level, LogTopic topic) noexcept {
    try {
        return log_here()->wants(level, topic);
    } catch (...) {
        return false;  // no memory for the log of the process
    }
}

void detail::say(LogLevel level, LogTopic topic, std::string_view text) noexcept {
    try {
        log_here()->write(level, topic, text);
    } catch (...) {
        return;
    }
}

}  // namespace trefoil
