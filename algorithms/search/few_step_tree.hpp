// SPDX-License-Identifier: BSD-3-Clause
// Trees of as few steps as there can be, found by search, on any network.
#pragma once

#include <vector>

#include "algorithms/search/ways.hpp"

namespace trefoil {

/// Who has it from whom, in which step (from 0) and through which of the sender's ports.
struct FewStepMessage {
    Rank from = 0, to = 0;
    Port port;
    int step = 0;
};

/// Leads from a root to all ranks.
struct FewStepTree {
    std::vector<FewStepMessage> messages;  ///< by step, then by receiver
    int steps = 0;
    int per_port = 1;  ///< messages that leave a rank through one port in a step, at most
    int hops = 0;      ///< the sum of the steps' longest ways
};

/// The cheapest tree that the search finds, by steps, further messages through a port and hops as
/// the default cost model weighs them, if it is gone through `times` times. With k messages of a
/// rank in a step nobody needs fewer steps than the logarithm of the ranks by k + 1, nor fewer hops
/// than the farthest rank is away; what these bounds leave possible is tried, the cheapest first,
/// for `work` looks at a possible message each. So all ranks find the same tree. The ranks are
/// connected.
FewStepTree find_few_step_tree(const WayTable& ways, Rank root, int times = 1,
                               std::int64_t work = 2'000'000);

}  // namespace trefoil
