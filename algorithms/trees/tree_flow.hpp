// SPDX-License-Identifier: BSD-3-Clause
// What travels along torus trees, ring by ring.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "algorithms/schedule/product_flows.hpp"
#include "algorithms/trees/torus_tree.hpp"

namespace trefoil {

/// How many blocks each coordinate of a ring has, as a part's trees count them; none: one each.
using TreeWeights = std::function<std::vector<Block>(int dimension, int part)>;

/// A phase for each part of the multiport trees of root 0, root to leaves. `whole`: a message is
/// one block, whoever is below; else the blocks of everybody below.
std::vector<ProductPhase> tree_phases(const TorusTree& tree, bool whole,
                                      const TreeWeights& weights = {});

}  // namespace trefoil
