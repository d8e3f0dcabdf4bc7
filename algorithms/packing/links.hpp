// SPDX-License-Identifier: BSD-3-Clause
// Lists of links, and of what is numbered by rank, link or edge.
#pragma once

#include <cstddef>
#include <vector>

#include "topo/fabric.hpp"

namespace trefoil {

inline std::size_t to_index(int number) {
    return static_cast<std::size_t>(number);
}

/// What leaves comes in, through the port that it came from. In the order of Fabric::links().
std::vector<FabricLink> reversed(std::vector<FabricLink> links);

/// Of a list in that order, the index of the link that leads the other way through the same cable;
/// -1: none works.
std::vector<int> links_back(const std::vector<FabricLink>& links);

}  // namespace trefoil
