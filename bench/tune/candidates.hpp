// SPDX-License-Identifier: BSD-3-Clause
// What is worth measuring for a call: what the model does not think far from the cheapest.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator/communicator.hpp"

namespace trefoil::tool {

struct Candidates {
    /// As trefoil_comm_set_algorithm takes them, the first one being what `auto` takes. Pipelined
    /// ones also with fewer and more pieces, and those that run only by name.
    std::vector<std::string> algorithms;
    double seconds = 0;  ///< what the model expects of the first one; 0: nothing
};

/// Of a call, while nothing is forced.
Candidates candidates_of(const Communicator& communicator, const Request& request);

/// The algorithm, and whether it runs by node; nothing of what the model fills in.
std::string name_of(const Choice& choice);

}  // namespace trefoil::tool
