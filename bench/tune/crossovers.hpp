// SPDX-License-Identifier: BSD-3-Clause
// From the fastest algorithm at each size to the rules of a tuning file. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/tune/contest.hpp"
#include "topo/sizes.hpp"

namespace trefoil::tool {

/// Who won at a size of the whole vector, and who was nearly as fast.
struct Winner {
    std::size_t bytes = 0;
    std::string algorithm;
    std::vector<std::string> near = {};
};

/// A range of sizes with one winner.
struct WinnersRange {
    SizeRange bytes;
    std::string algorithm;
    friend bool operator==(const WinnersRange&, const WinnersRange&) = default;
};

/// The fastest; among those that are no more than `noise` slower, `preferred` if it is one, else
/// the first. Some took part.
const Contender& winner_of(const std::vector<Contender>& contenders, const std::string& preferred,
                           double noise);

/// All in the final but the winner that are at most `slower` times as slow as it.
std::vector<std::string> near_to(const Contender& winner, const std::vector<Contender>& contenders,
                                 double slower);

/// Who is worth trying between two sizes: who won at either and, `with_near`, who was nearly as
/// fast, since it may be in front between them.
std::vector<std::string> worth_between(const Winner& low, const Winner& high, bool with_near);

/// Between two sizes with different winners, that of the smaller goes up to their geometric mean.
/// `winners`: ascending sizes, not empty. The ranges cover all sizes.
std::vector<WinnersRange> ranges_of(const std::vector<Winner>& winners);

/// The geometric mean, a multiple of `unit`; 0: none lies between the two.
std::size_t between(std::size_t least, std::size_t most, std::size_t unit);

}  // namespace trefoil::tool
