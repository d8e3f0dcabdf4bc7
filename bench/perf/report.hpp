// SPDX-License-Identifier: BSD-3-Clause
// What rank 0 shows of the measurements: the table, its head and foot, and the JSON file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/perf/late.hpp"
#include "bench/perf/measure.hpp"
#include "bench/perf/options.hpp"
#include "bench/perf/resources.hpp"
#include "topo/torus.hpp"

namespace trefoil::tool {

/// What all measurements of one run have in common.
struct Setting {
    std::string machine, torus_source, backend, provider, launch;
    Torus torus;
    /// What a byte takes on a link, by TREFOIL_MODEL; nothing: not said.
    std::optional<double> seconds_per_byte;
};

class Report {
  public:
    /// Prints the head, unless `silent`: then it prints nothing and writes nothing.
    Report(Setting setting, const PerfOptions& options, bool silent);

    /// On a terminal: what is being measured, on stderr, replaced by the next line.
    void announce(const Case& what, std::size_t done, std::size_t of) const;
    /// Prints a row.
    void add(Measurement m);
    /// Prints what the ranks hold in the end, under the rows.
    void add(const ResourceUse& use);
    /// Prints what waiting costs.
    void add(const LateBarrier& late);
    /// A gap between rows that belong to different sizes.
    void gap();
    /// Prints the foot and writes the JSON file. Throws Error(system_error) when it cannot.
    void finish(const std::vector<Skipped>& skipped);

    std::int64_t wrong() const { return wrong_; }

  private:
    std::optional<double> reached(const Measurement& m);
    std::string verdict() const;
    void write_json(const std::vector<Skipped>& skipped) const;

    Setting setting_;
    std::string json_file_;
    bool silent_, asked_to_check_, progress_;
    std::vector<Measurement> measurements_;
    std::map<Rank, std::optional<double>> bounds_;  ///< of throughput, in vectors, by root
    std::optional<ResourceUse> resources_;
    std::optional<LateBarrier> late_;
    std::size_t checked_ = 0;  ///< of the measurements
    std::int64_t wrong_ = 0;
};

}  // namespace trefoil::tool
