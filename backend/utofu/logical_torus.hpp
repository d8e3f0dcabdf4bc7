// SPDX-License-Identifier: BSD-3-Clause
// From the six coordinates of the nodes to a torus whose neighbours are one hop apart.
#pragma once

#include <vector>

#include "backend/ports/transport.hpp"
#include "topo/torus.hpp"

namespace trefoil::utofu {

/// The nodes' coordinates x y z a b c must fill a box. It may lie across the ends of the machine
/// where those are neighbours: in b, and in x and z of a machine as large as Fugaku. Each of x, y
/// and z makes a dimension with its partner a, b or c, of size 2, 3 and 2: a ring goes out through
/// all but the partner's first place and comes back through that one, so that it is closed by
/// neighbours whatever x, y and z do. A dimension whose partner has one place is a line, as it is
/// not known which of x, y and z go round where. So is a ring of two: there is one link between
/// them. Ranks that share a node make one dimension more, if they are as many on each. Dimensions
/// of size 1 are left out.
MachineTorus logical_torus(const std::vector<std::vector<Rank>>& places);

}  // namespace trefoil::utofu
