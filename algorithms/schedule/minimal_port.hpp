// SPDX-License-Identifier: BSD-3-Clause
// Through which port a message that goes straight to a rank leaves, such that parts share the load.
#pragma once

#include "topo/torus.hpp"

namespace trefoil {

/// To so many ranks one rank sends straight in one step of one part; a bound on what is under way
/// at once.
inline constexpr Rank straight_peers_per_step = 32;

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

/// The same, in the first dimension among first, first + 1, ...; where both ways are equally long,
/// even and odd coordinates take turns; `other_way`: the other turns.
inline Port straight_port(const Torus& torus, Rank from, Rank to, int first = 0,
                          bool other_way = false) {
    const Port port = minimal_port(torus, from, to, first);
    const int j = port.dimension();
    if (!torus.is_tie(from, to, j)) {
        return port;
    }
    const bool backwards = (torus.coordinate(from, j) % 2 == 1) != other_way;
    return Port::towards(j, backwards ? -1 : 1);
}

}  // namespace trefoil
