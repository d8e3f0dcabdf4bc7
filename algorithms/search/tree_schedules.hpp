// SPDX-License-Identifier: BSD-3-Clause
// From trees to schedules.
#pragma once

#include <vector>

#include "algorithms/schedule/schedule.hpp"
#include "algorithms/search/few_step_tree.hpp"

namespace trefoil {

enum class TreeUse : std::uint8_t {
    down,  ///< bcast
    up,    ///< reduce; the tree is one of WayTable::reversed()
    both   ///< allreduce: up and then down again; the tree is one of either
};

/// Of all ranks, in one part. The sums of a rank are made in the order of its children's steps.
std::vector<Schedule> tree_schedules(const FewStepTree& tree, Rank ranks, TreeUse use);

}  // namespace trefoil
