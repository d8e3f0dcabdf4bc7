// SPDX-License-Identifier: BSD-3-Clause
// Two edge-disjoint Hamiltonian cycles of a two-dimensional torus.
#pragma once

#include <string>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// Of a torus of r rows and c columns with r = c k and gcd(r, c - 1) = 1, or the transpose. With
/// t = x1 c + x0, 0 <= x0 < c, the cycles are, as (row, column) at time t,
///     h1 = (x1, (x0 - x1) mod c)                  along a row, then one column down
///     h2 = ((x1 (c - 1) + x0) mod r, x1 mod c)    along a column, then one row right
/// (Bae and Bose, "Edge disjoint Hamiltonian cycles in k-ary n-cubes and hypercubes", IEEE Trans.
/// Computers 52(10), 2003, as used by De Sensi et al., Swing, NSDI 2024.) Const functions are
/// thread-safe.
class HamiltonianCycles {
  public:
    /// Empty when the torus has these cycles, else why not. Dimensions of size 1 do not count.
    static std::string refusal(const Torus& torus);

    /// refusal() must be empty.
    explicit HamiltonianCycles(const Torus& torus);

    /// The rank that `cycle` (0: h1, 1: h2) visits at time t, 0 <= t < ranks.
    Rank at(int cycle, Rank t) const;
    /// The time at which `cycle` visits `rank`. Takes up to r / c steps.
    Rank time(int cycle, Rank rank) const;

  private:
    Torus torus_;
    int down_ = 0;    ///< the dimension of r
    int across_ = 0;  ///< the dimension of c
    Rank rows_ = 1, columns_ = 1;
};

}  // namespace trefoil
