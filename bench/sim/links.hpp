// SPDX-License-Identifier: BSD-3-Clause
// Single links as users name them.
#pragma once

#include <string>
#include <vector>

#include "algorithms/simulation/network.hpp"

namespace trefoil::tool {

/// Takes links out of service: "+0@5" is the link that leaves rank 5 in direction +0. Throws
/// Error(invalid_argument) for what is no link of the network.
void take_down(Network& network, const std::vector<std::string>& links);

}  // namespace trefoil::tool
