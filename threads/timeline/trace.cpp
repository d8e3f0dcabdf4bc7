// SPDX-License-Identifier: BSD-3-Clause
// The rings of a trace and the file that it goes to.
#include "threads/timeline/trace.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>

#include "topo/descriptor.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// `file` with `text` before its extension.
std::string inserted(const std::string& file, const std::string& text) {
    const std::size_t dot = file.rfind('.');
    const std::size_t slash = file.rfind('/');
    const bool has_extension =
        dot != std::string::npos && (slash == std::string::npos || dot > slash + 1) && dot > 0;
    std::string name = file;
    return name.insert(has_extension ? dot : file.size(), text);
}

/// Communicators of a process must not write over each other's traces.
std::string claimed(const std::string& file) {
    static std::mutex mutex;
    static auto& traces = *new std::map<std::string, int>;  // by file, under the mutex
    const std::lock_guard lock(mutex);
    const int number = ++traces[file];
    return number == 1 ? file : inserted(file, "-" + std::to_string(number));
}

}  // namespace

std::string trace_file(const std::string& pattern, Rank rank) {
    std::string file = pattern;
    const std::string place = "%r";
    std::size_t at = file.find(place);
    if (at == std::string::npos) {
        return inserted(file, "." + std::to_string(rank));
    }
    for (; at != std::string::npos; at = file.find(place)) {
        file.replace(at, place.size(), std::to_string(rank));
    }
    return file;
}

Trace::Trace(TraceOptions options)
    : options_(std::move(options)), file_(claimed(trace_file(options_.pattern, options_.rank))) {
    hold_standard_descriptors();  // the program may print while a file is written
    if (!std::ofstream(file_)) {
        throw Error(Status::invalid_argument,
                    "TREFOIL_TRACE=" + options_.pattern + ": cannot write " + file_ + ": " +
                        std::strerror(errno) + "; give a file in a directory that exists");
    }
    for (std::size_t i = 0; i < options_.workers.size(); ++i) {
        rings_.emplace_back(options_.events);
    }
    options_.workers.emplace_back("plans");
    rings_.emplace_back(std::min<std::size_t>(options_.events, 1024));
}

const char* Trace::add_plan(const std::string& text, std::int64_t begin) {
    const std::lock_guard lock(mutex_);
    TraceEvent event;
    event.kind = TraceEvent::Kind::prepare;
    event.begin = begin;
    event.end = trace_clock();
    event.text = texts_.insert(text).first->c_str();
    rings_.back().add(event);
    return event.text;
}

std::uint64_t Trace::dropped() const {
    std::uint64_t all = 0;
    for (const TraceRing& ring : rings_) {
        all += ring.dropped();
    }
    return all;
}

}  // namespace trefoil
