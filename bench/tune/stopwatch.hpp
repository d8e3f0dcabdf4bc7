// SPDX-License-Identifier: BSD-3-Clause
// How long calls take that follow one another, on the slowest rank.
#pragma once

#include <functional>
#include <vector>

#include "bench/perf/session.hpp"

namespace trefoil::tool {

/// Seconds per call of `calls` calls one after the other: the slowest rank's. Collective, and equal
/// on all ranks. Sets another algorithm for allreduce.
double seconds_per_call(Session& session, int calls, const std::function<void()>& call);

/// How many calls of `seconds` each fill `slice` seconds: 1 to 2000.
int calls_in(double slice, double seconds);

/// `values` is not empty.
double median(std::vector<double> values);

}  // namespace trefoil::tool
