// SPDX-License-Identifier: BSD-3-Clause
// In which step each block of an allgather crosses each link of its tree.
#pragma once

#include <span>
#include <vector>

#include "algorithms/packing/trees.hpp"

namespace trefoil {

struct BlockStep {
    Rank block = 0;
    int link = 0;
};

/// By step; `trees` are one for each rank's block. In a step a whole link carries one block at
/// most, a slower one takes rests: first goes what has the longest way before it.
std::vector<std::vector<BlockStep>> block_steps(const Packing& packing,
                                                std::span<const PackedTree> trees);

}  // namespace trefoil
