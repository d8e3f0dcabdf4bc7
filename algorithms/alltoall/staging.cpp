// SPDX-License-Identifier: BSD-3-Clause
// First fit: the lowest gap that is large enough, so that little more than the peak is touched.
#include "algorithms/alltoall/staging.hpp"

#include <algorithm>

namespace trefoil {

Extent StagingArea::take(Block count) {
    const auto gap = std::ranges::find_if(free_, [&](Extent e) { return e.count >= count; });
    if (gap != free_.end()) {
        const Extent run{gap->first, count};
        gap->first += count;
        gap->count -= count;
        if (gap->count == 0) {
            free_.erase(gap);
        }
        return run;
    }
    // The area grows; a gap at its end is used.
    Block first = end_;
    if (!free_.empty() && free_.back().first + free_.back().count == end_) {
        first = free_.back().first;
        free_.pop_back();
    }
    end_ = first + count;
    return {first, count};
}

void StagingArea::give_back(Extent run) {
    const auto next = std::ranges::lower_bound(free_, run.first, {}, &Extent::first);
    const auto at = free_.insert(next, run);
    const auto join = [&](auto low, auto high) {
        if (low->first + low->count == high->first) {
            low->count += high->count;
            free_.erase(high);
        }
    };
    if (at + 1 != free_.end()) {
        join(at, at + 1);
    }
    if (at != free_.begin()) {
        join(at - 1, at);
    }
}

}  // namespace trefoil
