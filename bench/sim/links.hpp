// SPDX-License-Identifier: BSD-3-Clause
// Single links as users name them: "+0@5" is the link that leaves rank 5 in direction +0.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "algorithms/simulation/network.hpp"

namespace trefoil::tool {

/// Takes links out of service. Throws Error(invalid_argument) for what is no link of the network.
void take_down(Network& network, const std::vector<std::string>& links);

/// Gives links a share of their rate.
void slow_down(Network& network, const std::vector<std::pair<std::string, double>>& links);

/// "+0@5=0.5": a link and the share, above 0 and up to 1. Throws Error(invalid_argument).
std::pair<std::string, double> parse_slow_link(const std::string& text);

}  // namespace trefoil::tool
