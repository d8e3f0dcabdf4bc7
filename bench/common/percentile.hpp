// SPDX-License-Identifier: BSD-3-Clause
// The nearest-rank percentile that the measurements report.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace trefoil::tool {

/// `sorted`: ascending, not empty; `share` from 0 to 1.
inline double percentile(const std::vector<double>& sorted, double share) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

}  // namespace trefoil::tool
