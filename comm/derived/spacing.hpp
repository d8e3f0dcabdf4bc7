// SPDX-License-Identifier: BSD-3-Clause
// How the members of a communicator lie along one dimension of a torus. Pure.
#pragma once

#include <string>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// The places that members take along one ring or line, in the order in which one comes by them.
struct Spacing {
    std::vector<Rank> places;  ///< from the first member on; a ring may be passed across its end
    Rank stride = 1;           ///< places from one member to the next; 0: not everywhere the same
    /// From the last member on to the first it is no farther than between others: a ring. If it is,
    /// or if there is no such way, the members are a line.
    bool wraps = true;

    bool even() const { return stride > 0; }
};

/// `places`: all different, in any order, at least one. `size`: of the dimension, which is a ring
/// or a line. Where a ring begins: so that the gaps are equal, but for the one behind the last
/// member; if that cannot be, so that this gap is the longest.
Spacing spacing_of(std::vector<Rank> places, Rank size, bool ring);

/// "whole", "from 1 to 2, a line", "one in 2 from 0 to 6": `size` as above.
std::string to_string(const Spacing& spacing, Rank size);

}  // namespace trefoil
