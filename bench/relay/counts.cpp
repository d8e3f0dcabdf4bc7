// SPDX-License-Identifier: BSD-3-Clause
// The relay's account of itself, as JSON.
#include "bench/relay/counts.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

namespace trefoil::relay {

namespace {

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

void Counts::sent(std::size_t bytes, Time late) {
    ++frames_;
    bytes_ += bytes;
    auto us = static_cast<std::size_t>(std::max<Time>(late, 0) / 1000);
    us -= us >= exact_us ? us % coarse_us : 0;
    ++late_us_[std::min(us, longest_us)];
}

std::string Counts::json(Time now) const {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::string late;
    for (std::size_t us = 0; us < late_us_.size(); ++us) {
        if (late_us_[us] > 0) {
            late += fmt::format("{}[{},{}]", late.empty() ? "" : ",", us, late_us_[us]);
        }
    }
    return fmt::format(
        "{{\"seconds\":{:.6f},\"cpu_seconds\":{:.6f},\"frames\":{},\"bytes\":{},\"lost\":{},"
        "\"late_us\":[{}]}}\n",
        1e-9 * static_cast<double>(now - start_), seconds(usage.ru_utime) + seconds(usage.ru_stime),
        frames_, bytes_, lost_, late);
}

}  // namespace trefoil::relay
