// SPDX-License-Identifier: BSD-3-Clause
// The late barrier, measured by a thread that sleeps but for two looks at the process's clock.
#include "bench/perf/late.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <thread>

#include "bench/perf/clock.hpp"
#include "topo/process_space.hpp"

namespace trefoil::tool {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double asleep_after = 1.0;  // seconds, on a machine that is not busy
constexpr double margin = 0.1;        // before the late entry

Clock::time_point after(Clock::time_point start, double seconds) {
    return start +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double seconds_of(Clock::time_point time) {
    return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace

LateBarrier late_barrier(Session& session, double seconds, bool one_process) {
    const bool is_late = session.rank() == session.torus().ranks() - 1;
    const bool measures = !one_process || session.rank() == 0;
    LateBarrier result;
    result.late = seconds;
    result.from = std::max(asleep_after, seconds / 2);
    result.until = seconds - margin;

    session.barrier();
    const Clock::time_point start = Clock::now();
    double used = 0;
    std::jthread observer([&] {
        if (measures) {
            std::this_thread::sleep_until(after(start, result.from));
            used = -processor_seconds();
            std::this_thread::sleep_until(after(start, result.until));
            used += processor_seconds();
        }
    });
    if (is_late) {
        std::this_thread::sleep_until(after(start, seconds));
    }
    const double entered = seconds_of(Clock::now());
    session.barrier();
    const double left = seconds_of(Clock::now());
    observer.join();

    std::vector<double> most{is_late ? entered : -INFINITY, left, used};
    session.maximize(most);
    const double window = result.until - result.from;
    const auto nanoseconds = session.total(static_cast<std::int64_t>(used * 1e9));
    result.together = 100 * static_cast<double>(nanoseconds) * 1e-9 / window;
    result.most = 100 * most[2] / window;
    // Of hosts that share a name, each has a clock of its own.
    if (session.equal_everywhere(std::hash<std::string>{}(process_space()))) {
        result.wake = (most[1] - most[0]) * 1e6;
    }
    return result;
}

std::string late_text(const LateBarrier& late) {
    return fmt::format(
        "# one rank entered a barrier {:g} s late: from {:g} s to {:g} s the ranks used {:.2f}% of "
        "a core together, {:.2f}% the busiest process\n"
        "# the last rank left {} after the late one entered\n",
        late.late, late.from, late.until, late.together, late.most,
        late.wake ? fmt::format("{:.1f} us", *late.wake) : "an unknown time (several hosts)");
}

}  // namespace trefoil::tool
