// SPDX-License-Identifier: BSD-3-Clause
// The executor's calls in flight, for people.
#include <algorithm>

#include "threads/executor/executor.hpp"
#include "threads/executor/missing_list.hpp"

namespace trefoil {

/// A call is known by its running segments, by its place in the queue, or by both.
ExecutorReport Executor::report() {
    if (settled()) {
        return {};  // calls are over, and perhaps gone
    }
    std::vector<const RunningCall*> all;
    const auto add = [&](const RunningCall& call) {
        if (std::find(all.begin(), all.end(), &call) == all.end()) {
            all.push_back(&call);
        }
    };
    for (const RunningSegment& segment : parts_.queue.places()) {
        if (segment.running()) {
            add(segment.call());
        }
    }
    for (const RunningCall* const call : parts_.stored.all_running()) {
        add(*call);
    }
    for (const RunningCall* call = parts_.calls.first(); call != nullptr; call = call->next) {
        add(*call);
    }
    std::sort(all.begin(), all.end(),
              [](const RunningCall* a, const RunningCall* b) { return a->number() < b->number(); });
    const MissingList missing(parts_.channels, parts_.queue, parts_.stored);
    ExecutorReport report;
    for (const RunningCall* const call : all) {
        report.calls.push_back({call->number(), call->call().signature, call->call().text,
                                call->call().segments.size(), call->started(),
                                missing.list(*call)});
    }
    report.idle = watch_.idle();
    return report;
}

}  // namespace trefoil
