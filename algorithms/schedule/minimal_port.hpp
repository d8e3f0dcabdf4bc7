// SPDX-License-Identifier: BSD-3-Clause
// Through which port a message that goes straight to a rank leaves, such that parts share the load.
#pragma once

#include "topo/torus.hpp"

namespace trefoil {

/// A port on a shortest way from `from` to `to`, which differ: in the first dimension among index,
/// index + 1, ... (mod D) in which they differ; where both ways are equally long, '+' for the first
/// D indices, '-' for the next D, and so on. A host dimension counts only inside a node.
inline Port minimal_port(const Torus& torus, Rank from, Rank to, int index) {
    const bool through_memory = torus.on_one_node(from, to);
    const int dimensions = torus.dimensions() - (torus.has_nodes() && !through_memory ? 1 : 0);
    int j = index % dimensions;
    while (torus.coordinate(from, j) == torus.coordinate(to, j)) {
        j = (j + 1) % dimensions;
    }
    const bool backwards = torus.is_tie(from, to, j) ? index / dimensions % 2 == 1
                                                     : torus.displacement(from, to, j) < 0;
    return Port::towards(j, backwards ? -1 : 1);
}

}  // namespace trefoil
