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
    double seconds = 0;  ///< the least that the model expects of any; 0: it prices none
};

/// Of a call, while nothing is forced.
Candidates candidates_of(const Communicator& communicator, const Request& request);

/// It gives what the call must give, on that torus.
bool can_run(const Algorithm& algorithm, const Request& request, const Torus& torus);

}  // namespace trefoil::tool
