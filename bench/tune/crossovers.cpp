// SPDX-License-Identifier: BSD-3-Clause
// Winners, and the ranges between them.
#include "bench/tune/crossovers.hpp"

#include <algorithm>
#include <cmath>

namespace trefoil::tool {

const Contender& winner_of(const std::vector<Contender>& contenders, const std::string& preferred,
                           double noise) {
    const Contender* best = nullptr;
    for (const Contender& one : contenders) {
        if (one.in_final && !one.seconds.empty() &&
            (best == nullptr || one.median < best->median)) {
            best = &one;
        }
    }
    for (const Contender& one : contenders) {
        if (one.in_final && !one.seconds.empty() && one.algorithm == preferred &&
            one.median <= best->median * (1 + noise)) {
            return one;
        }
    }
    return *best;
}

std::vector<std::string> near_to(const Contender& winner, const std::vector<Contender>& contenders,
                                 double slower) {
    std::vector<std::string> near;
    for (const Contender& one : contenders) {
        if (one.in_final && !one.seconds.empty() && one.algorithm != winner.algorithm &&
            one.median <= winner.median * slower) {
            near.push_back(one.algorithm);
        }
    }
    return near;
}

std::vector<std::string> worth_between(const Winner& low, const Winner& high, bool with_near) {
    std::vector<std::string> names{low.algorithm};
    const auto add = [&](const std::string& name) {
        if (std::ranges::count(names, name) == 0) {
            names.push_back(name);
        }
    };
    add(high.algorithm);
    if (with_near) {
        std::ranges::for_each(low.near, add);
        std::ranges::for_each(high.near, add);
    }
    return names;
}

std::vector<WinnersRange> ranges_of(const std::vector<Winner>& winners) {
    std::vector<WinnersRange> ranges;
    std::size_t before = 0;
    for (const Winner& winner : winners) {
        if (ranges.empty()) {
            ranges.push_back({{}, winner.algorithm});
        } else if (ranges.back().algorithm != winner.algorithm) {
            const auto from = static_cast<std::size_t>(std::ceil(
                std::sqrt(static_cast<double>(before) * static_cast<double>(winner.bytes))));
            ranges.back().bytes.most = from - 1;
            ranges.push_back({{.least = from}, winner.algorithm});
        }
        before = winner.bytes;
    }
    return ranges;
}

std::size_t between(std::size_t least, std::size_t most, std::size_t unit) {
    const double mean = std::sqrt(static_cast<double>(least) * static_cast<double>(most));
    const std::size_t bytes = static_cast<std::size_t>(mean) / unit * unit;
    return bytes > least && bytes < most ? bytes : 0;
}

}  // namespace trefoil::tool
