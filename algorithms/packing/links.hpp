// SPDX-License-Identifier: BSD-3-Clause
// Lists of links.
#pragma once

#include <vector>

#include "algorithms/schedule/to_index.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

/// What leaves comes in, through the port that it came from. In the order of Fabric::links().
std::vector<FabricLink> reversed(std::vector<FabricLink> links);

/// Of a list in that order, the index of the link that leads the other way through the same cable;
/// -1: none works.
std::vector<int> links_back(const std::vector<FabricLink>& links);

}  // namespace trefoil
