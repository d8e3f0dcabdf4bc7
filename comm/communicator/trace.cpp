// SPDX-License-Identifier: BSD-3-Clause
// The communicator's timeline: begun with its settings, written when it ends.
#include <cstdio>

#include "comm/communicator/communicator.hpp"
#include "topo/host.hpp"

namespace trefoil {

namespace {

/// "calling thread: +0 -0", "port thread 1: -0".
std::string worker_text(const PortGroups& groups, std::size_t worker, PortThreadsBy team) {
    std::string text = groups.threads == 0             ? std::string("calling thread")
                       : team == PortThreadsBy::openmp ? "OpenMP thread " + std::to_string(worker)
                                                       : "port thread " + std::to_string(worker);
    const char* separator = ": ";
    for (const Port port : groups.groups[worker]) {
        text += separator + to_string(port);
        separator = " ";
    }
    return text;
}

}  // namespace

/// Takes all memory that the timeline will ever need. Throws what Trace throws.
void Communicator::begin_trace() {
    if (settings_.trace.empty()) {
        return;
    }
    TraceOptions options;
    options.pattern = settings_.trace;
    options.events = settings_.trace_events;
    options.rank = rank();
    options.host = host_name();
    for (std::size_t worker = 0; worker < port_groups_.groups.size(); ++worker) {
        options.workers.push_back(worker_text(port_groups_, worker, settings_.port_threads_by));
    }
    trace_ = std::make_unique<Trace>(std::move(options));
}

/// On the first worker's track: it is the calling thread's work, and no call runs.
void Communicator::note_preparation(const char* call, std::int64_t begin) {
    TraceEvent event;
    event.kind = TraceEvent::Kind::prepare;
    event.begin = begin;
    event.end = trace_clock();
    event.text = call;
    trace_->ring(0).add(event);
}

void Communicator::end_trace() const noexcept {
    if (!trace_) {
        return;
    }
    try {
        if (!trace_->write()) {
            std::fprintf(stderr,
                         "trefoil: rank %d: the trace %s is not complete: is the disk full?\n",
                         rank(), trace_->file().c_str());
        }
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "trefoil: rank %d: no memory to write the trace %s\n", rank(),
                     trace_->file().c_str());
    }
    if (trace_->dropped() > 0) {
        std::fprintf(stderr,
                     "trefoil: rank %d: the trace %s lacks the first %llu events; "
                     "TREFOIL_TRACE_EVENTS (%zu) says how many a thread keeps\n",
                     rank(), trace_->file().c_str(),
                     static_cast<unsigned long long>(trace_->dropped()), settings_.trace_events);
    }
}

}  // namespace trefoil
