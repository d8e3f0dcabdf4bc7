// SPDX-License-Identifier: BSD-3-Clause
// The product's files of the executor, over checking atomics. They are compiled once, for all
// scenarios.
#include "tests/weak_order/checked_atomics.hpp"
// The product's files, over them.
#include "threads/executor/arrivals.cpp"
#include "threads/executor/channels.cpp"
#include "threads/executor/control_messages.cpp"
#include "threads/executor/direct_call.cpp"
#include "threads/executor/direct_program.cpp"
#include "threads/executor/engine.cpp"
#include "threads/executor/executor.cpp"
#include "threads/executor/executor_report.cpp"
#include "threads/executor/failure.cpp"
#include "threads/executor/inquiry.cpp"
#include "threads/executor/missing_list.cpp"
#include "threads/executor/operations.cpp"
#include "threads/executor/peer_reads.cpp"
#include "threads/executor/peer_reports.cpp"
#include "threads/executor/peer_watch.cpp"
#include "threads/executor/poster.cpp"
#include "threads/executor/program.cpp"
#include "threads/executor/reports.cpp"
#include "threads/executor/running_segment.cpp"
#include "threads/executor/staging.cpp"
#include "threads/executor/steps.cpp"
#include "threads/executor/stored_calls.cpp"
#include "threads/executor/stored_segment.cpp"
#include "threads/executor/suspects.cpp"
#include "threads/executor/timeline_notes.cpp"
#include "threads/executor/wake_up.cpp"
#include "threads/executor/worker.cpp"
#include "threads/executor/worker_idle.cpp"
#include "threads/executor/worker_part.cpp"

namespace trefoil {

/// Whoever finds nothing to do sleeps at once: pauses order nothing.
std::chrono::microseconds Waiting::idle(bool) {
    return std::chrono::milliseconds{200};
}

}  // namespace trefoil
