// SPDX-License-Identifier: BSD-3-Clause
// What waiting costs: one rank enters a barrier late, the others' processor time is measured.
#pragma once

#include <optional>
#include <string>

#include "bench/perf/session.hpp"

namespace trefoil::tool {

struct LateBarrier {
    double late = 0;      ///< seconds after the others
    double from = 0;      ///< seconds after their entry: the measured time begins ...
    double until = 0;     ///< ... and ends
    double together = 0;  ///< processor time of all processes in it, in percent of one core
    double most = 0;      ///< of the busiest process
    /// Microseconds from the late entry until the last rank has left; nothing when the ranks run on
    /// several hosts, whose clocks differ.
    std::optional<double> wake;
};

/// The last rank enters a barrier `seconds` after the others, which should be asleep after half of
/// that, and one second at least; so `seconds` is `least_late` or more. Collective; complete on all
/// ranks. `one_process`: all ranks are threads of this process.
LateBarrier late_barrier(Session& session, double seconds, bool one_process);
constexpr double least_late = 1.5;

/// Two lines for the foot of the table.
std::string late_text(const LateBarrier& late);

}  // namespace trefoil::tool
