// SPDX-License-Identifier: BSD-3-Clause
// Jobs in a network of scripts/torusnet.
#pragma once

#include <string>

#include "bench/run/launcher.hpp"

namespace trefoil::tool {

/// One rank per node of the network, or so many, each port bound to its direction's NIC. Throws
/// what read_torus_net() throws, and Error(system_error) without root.
void place_in_net(Job& job, const std::string& name, Rank per_node);

}  // namespace trefoil::tool
