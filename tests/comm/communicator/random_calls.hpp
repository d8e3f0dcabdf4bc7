// SPDX-License-Identifier: BSD-3-Clause
// Calls that are drawn from a seed, alike on all ranks.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "collective_check.hpp"
#include "topo/torus.hpp"

namespace trefoil::test {

struct NamedAlgorithm {
    Collective collective;
    std::string name;
    bool any_sizes = false;  ///< of alltoall's blocks
};

/// All that suit the torus; on nodes of several ranks by node, too.
std::vector<NamedAlgorithm> algorithms_for(const Torus& torus);

/// What all ranks do in one call.
CollectiveCase draw(std::mt19937& shared, const std::vector<NamedAlgorithm>& names, int ranks);

}  // namespace trefoil::test
