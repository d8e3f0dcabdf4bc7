// SPDX-License-Identifier: BSD-3-Clause
// Messages that go straight to all ranks: in which order, and through which ports, such that in
// each step all links carry alike.
#pragma once

#include <vector>

#include "algorithms/schedule/minimal_port.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// To so many ranks one rank sends straight in one step of one part; a bound on what is under way
/// at once.
inline constexpr Rank straight_peers_per_step = 32;

/// A port on a shortest way from `from` to `to`, which differ: in the first dimension among first,
/// first + 1, ... (mod D) in which they differ; where both ways are equally long, even and odd
/// coordinates take turns; `other_way`: the other turns.
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

/// A rank as seen from rank 0, and the dimension through which messages to it leave.
struct StraightOffset {
    Rank rank = 0;
    int first = 0;  ///< for straight_port()
};

/// All ranks but rank 0, the nearest first, because equal distances lie on all sides; those that
/// are images of one another in the symmetries of a torus with equal sizes follow one another. Each
/// leaves through the dimension that has had the fewest so far, as does the one the other way.
std::vector<StraightOffset> straight_offsets(const Torus& torus);

}  // namespace trefoil
