// SPDX-License-Identifier: BSD-3-Clause
// One measurement: the same call many times, timed and checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/perf/in_flight.hpp"
#include "bench/perf/options.hpp"
#include "bench/perf/overlap.hpp"
#include "bench/perf/session.hpp"
#include "bench/perf/workload.hpp"

namespace trefoil::tool {

struct Measurement {
    Case what;
    std::string used;  ///< the algorithm, with its modifiers
    /// The same without them.
    std::string algorithm() const { return used.substr(0, used.find(':')); }
    std::size_t bytes = 0;  ///< of the whole vector: of all blocks together, of the mean rank
    int iterations = 0;
    /// Microseconds. p50 and p99 over iterations, each as slow as its slowest rank; min and max
    /// over the ranks' means.
    double p50 = 0, p99 = 0, min = 0, max = 0;
    double algbw = 0, busbw = 0;  ///< bytes per second, by p50
    /// The bound of throughput over p50, at most 1; nothing: not known. The report adds it.
    std::optional<double> reached;
    std::optional<std::int64_t> wrong;  ///< elements, over all ranks; nothing: not checked
    std::optional<bool> identical;      ///< bits alike on all ranks; nothing: not checked
    // What was asked for besides.
    /// Microseconds per call, the median of stretches of calls with a barrier before each, as slow
    /// as their slowest ranks: of many calls, back to back, and of one.
    std::optional<double> loop, separated;
    std::optional<Comparison> persistent, in_flight;
    std::optional<Overlap> overlap;
    /// Elements that are wrong in all of it.
    std::int64_t all_wrong() const;
};

/// Measures on one rank; all ranks call with the same cases in the same order.
class Meter {
  public:
    /// `schedule`: of the user's, which goes by its name among the algorithms; or null. All outlive
    /// this.
    Meter(Session& session, const PerfOptions& options, const UserSchedule* schedule)
        : session_(session),
          options_(options),
          schedule_(schedule),
          patterns_(session.rank(), session.torus().ranks()) {}

    /// The figures are complete on all ranks. Throws what the library reports.
    Measurement measure(const Case& what);

  private:
    const Traits& traits(Collective collective, std::string_view algorithm) const;
    std::size_t vector_bytes(const Case& what) const;
    std::int64_t checked_call(Workload& workload);
    bool identical_call(Workload& workload);
    std::vector<double> timed_calls(Workload& workload);
    std::vector<double> timed_stretches(Workload& workload, int stretches);
    void measure_requests(Workload& workload, bool check, Measurement& m);
    void summarize(std::vector<double> seconds, Measurement& m);

    Session& session_;
    const PerfOptions& options_;
    const UserSchedule* schedule_;
    Patterns patterns_;
    std::uint64_t salt_ = 0;  ///< another one for each checked call, alike on all ranks
};

}  // namespace trefoil::tool
