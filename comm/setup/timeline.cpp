// SPDX-License-Identifier: BSD-3-Clause
// The names of the timeline's tracks, and the warnings about it.
#include "comm/setup/timeline.hpp"

#include <new>
#include <string>
#include <utility>

#include "topo/host.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

namespace {

/// "calling thread: +0 -0", "port thread 1: -0".
std::string worker_text(const PortGroups& groups, std::size_t worker, PortThreadsBy who) {
    const bool inside = groups.has_inside && worker + 1 == groups.groups.size();
    std::string text = inside                         ? std::string("memory of the node")
                       : groups.threads == 0          ? std::string("calling thread")
                       : who == PortThreadsBy::openmp ? "OpenMP thread " + std::to_string(worker)
                                                      : "port thread " + std::to_string(worker);
    const char* separator = ": ";
    for (const Port port : groups.groups[worker]) {
        text += separator + to_string(port);
        separator = " ";
    }
    return text;
}

}  // namespace

std::unique_ptr<Trace> begin_timeline(const Settings& settings, const PortGroups& groups,
                                      Rank rank) {
    if (settings.trace.empty()) {
        return nullptr;
    }
    TraceOptions options;
    options.pattern = settings.trace;
    options.events = settings.trace_events;
    options.rank = rank;
    options.host = host_name();
    for (std::size_t worker = 0; worker < groups.groups.size(); ++worker) {
        options.workers.push_back(worker_text(groups, worker, settings.port_threads_by));
    }
    return std::make_unique<Trace>(std::move(options));
}

void write_timeline(Trace& timeline, Rank rank, std::size_t most_events) noexcept {
    const auto about = [&] {
        return "rank " + std::to_string(rank) + ": the trace " + timeline.file();
    };
    try {
        if (!timeline.write()) {
            log_warning(LogTopic::trace,
                        [&] { return about() + " is not complete: is the disk full?"; });
        }
    } catch (const std::bad_alloc&) {
        log_warning(LogTopic::trace, [&] { return about() + " is lost: there is no memory"; });
    }
    if (timeline.dropped() > 0) {
        log_warning(LogTopic::trace, [&] {
            return about() + " lacks the first " + std::to_string(timeline.dropped()) +
                   " events; TREFOIL_TRACE_EVENTS (" + std::to_string(most_events) +
                   ") says how many a thread keeps";
        });
    }
}

}  // namespace trefoil
