// SPDX-License-Identifier: BSD-3-Clause
// What the schedules of all ranks are to achieve together.
#pragma once

#include <vector>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// What schedules are to achieve.
struct Goal {
    Collective collective = Collective::allreduce;
    Rank root = 0;
    /// Where blocks have owners, by part and block: whose block it is. Empty: block b is rank b's.
    std::vector<std::vector<Rank>> owners;
};

}  // namespace trefoil
