// SPDX-License-Identifier: BSD-3-Clause
// Single-port variants: algorithms for ranks in a line, which do not look at the torus.
#pragma once

#include "algorithms/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// A schedule made for the ring of all ranks, on `torus`: who exchanges what with whom stays, and
/// each message takes the first port of its shortest way.
Schedule through_first_ports(const Torus& torus, Schedule schedule);

}  // namespace trefoil
