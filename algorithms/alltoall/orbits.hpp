// SPDX-License-Identifier: BSD-3-Clause
// The steps of orbit: which offsets go together, and through which ports.
#pragma once

#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// A message of every rank to the rank that is so far from it.
struct OrbitShift {
    Rank offset = 0;         ///< as the rank that is so far from rank 0
    int first = 0;           ///< the dimension that it travels first
    bool other_way = false;  ///< where both ways are equally long, it takes the other one
};

/// All offsets but 0, in steps, those with the shortest ways first. In a step a rank uses no port
/// twice, if two ranks whose coordinates of a dimension differ by half its size and that take turns
/// (by the parity of the coordinate, say) agree on what the other way is. All dimensions have one
/// size.
std::vector<std::vector<OrbitShift>> orbit_steps(const Torus& torus);

}  // namespace trefoil
