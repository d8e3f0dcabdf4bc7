// SPDX-License-Identifier: BSD-3-Clause
// Scenarios hold as the product is written, and some of them fails for each ordering in it that is
// made weaker.
//
// Proved: the queue of notifications and the offers of bytes of backend memory, its registrations
// of user memory, the puts, notices, records and credit of backend utofu, the doorbell, port
// threads, and of the executor its counters, growing arrays, the queue of calls, how segments are
// started, shown, shared and ended (segment_queue, running_segment), how workers and callers sleep
// and wake up, reads of peers' memory, what is told of a channel's uses, and how a failure is seen.
// Not proved, but run under ThreadSanitizer, which sees what a run on this processor did and knows
// no weaker one: how many calls are in flight (in_flight), who drives and who is given new work
// (engine, worker), when channels are there and what programs need (worker_part, poster,
// program_sizes), and the requests of the interface.
#pragma once

#include <string>
#include <vector>

#include "tests/weak_order/machine.hpp"

namespace trefoil::weak {

struct Named {
    const char* name;
    Scenario scenario;
    Bounds bounds = {};
};

/// An ordering that is stronger than these scenarios need, or that they do not come to, and why.
struct Excuse {
    const char* file;       ///< the end of its path
    const char* statement;  ///< part of its line in the source
    const char* why;
};

/// Expects all that of the orderings in these files (by their paths in the repository), that the
/// scenarios come to each of them, and that no excuse is in vain.
void prove(const std::vector<const char*>& files, const std::vector<Named>& scenarios,
           const std::vector<Excuse>& excuses = {});

}  // namespace trefoil::weak
