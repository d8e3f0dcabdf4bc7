// SPDX-License-Identifier: BSD-3-Clause
// The clocks of measurements.
#pragma once

#include <chrono>
#include <ctime>

namespace trefoil::tool {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Of this process, all threads together.
inline double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace trefoil::tool
