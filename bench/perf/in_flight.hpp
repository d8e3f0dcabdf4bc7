// SPDX-License-Identifier: BSD-3-Clause
// Calls as requests against blocking calls, in turns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/perf/session.hpp"
#include "bench/perf/workload.hpp"

namespace trefoil::tool {

struct Repetitions {
    int iterations = 20, warmup = 5;
    bool check = false;
};

/// Microseconds, the median over iterations of the slowest rank.
struct Comparison {
    int calls = 1;                      ///< in either time
    double requests = 0;                ///< they were begun together, then waited for
    double blocking = 0;                ///< one after the other
    double begin = 0;                   ///< the part of `requests` until all were begun
    std::optional<std::int64_t> wrong;  ///< elements of the checked requests; nothing: not checked
    /// Of one persistent call that was started before, on all ranks.
    std::int64_t received_bytes = 0, copied_bytes = 0;
    double ratio() const { return requests / blocking; }
    double copied() const {
        return received_bytes == 0
                   ? 0
                   : static_cast<double>(copied_bytes) / static_cast<double>(received_bytes);
    }
};

// Collective; complete on all ranks. The algorithm that is set for the case's collective is used,
// and another one may be set afterwards. `salt` numbers the checked calls.

/// A persistent call is prepared once, started and waited for.
Comparison persistent_against_blocking(Session& session, Workload& workload,
                                       const Repetitions& repetitions, std::uint64_t& salt);
/// `calls` nonblocking calls, each on buffers of its own.
Comparison in_flight_against_blocking(Session& session, const Case& what, Patterns& patterns,
                                      int calls, const Repetitions& repetitions,
                                      std::uint64_t& salt);

/// The median over iterations of the slowest rank, in microseconds.
double slowest_median(Session& session, std::vector<double> seconds);

}  // namespace trefoil::tool
