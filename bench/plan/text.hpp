// SPDX-License-Identifier: BSD-3-Clause
// One rank's schedule in words.
#pragma once

#include <string>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil::tool {

/// Per part and step, what the rank moves, sends and receives.
std::string schedule_text(const Torus& torus, const Algorithm& algorithm, const Schedule& schedule);

/// "rank 5 (1,2)"
std::string rank_text(const Torus& torus, Rank rank);

/// numerator/denominator of the vector, reduced: "1/4", "1", "0".
std::string fraction_text(std::uint64_t numerator, std::uint64_t denominator);

}  // namespace trefoil::tool
