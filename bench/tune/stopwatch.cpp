// SPDX-License-Identifier: BSD-3-Clause
// Times stretches of calls.
#include "bench/tune/stopwatch.hpp"

#include <algorithm>
#include <chrono>

#include "bench/common/percentile.hpp"

namespace trefoil::tool {

double seconds_per_call(Session& session, int calls, const std::function<void()>& call) {
    session.barrier();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) {
        call();
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    std::vector<double> slowest{taken.count() / calls};
    session.maximize(slowest);
    return slowest.front();
}

int calls_in(double slice, double seconds) {
    constexpr double most = 2000;
    return static_cast<int>(std::clamp(slice / std::max(seconds, 1e-9), 1.0, most));
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return percentile(values, 0.5);
}

}  // namespace trefoil::tool
