// SPDX-License-Identifier: BSD-3-Clause
// What the messages of all ranks do to links, step by step: what is left of schedules for a price.
#pragma once

#include <cstdint>
#include <vector>

namespace trefoil {

struct LinkStep {
    std::int64_t load = 0;  ///< of the busiest link, in halves of a block
    std::int64_t hops = 0;  ///< of the longest way; 0: nobody sends
    int through_port = 0;   ///< the most messages that leave a rank through one port
    /// That ranks send inside their nodes: all of them, and the one that sends or receives most.
    std::int64_t blocks_inside = 0, most_inside = 0;
};

/// Of all parts together.
struct LinkSteps {
    int parts = 0;
    std::vector<LinkStep> steps;
    /// Of alltoall: blocks in messages that are gathered from several places, of all ranks.
    std::int64_t gathered = 0;
    /// Inside nodes, of all ranks.
    std::int64_t messages_inside = 0;
    /// Of pipelines on nodes of several ranks: what the busiest link carries in all steps.
    std::int64_t busiest_link = 0;
};

}  // namespace trefoil
