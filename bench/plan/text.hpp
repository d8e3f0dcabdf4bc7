// SPDX-License-Identifier: BSD-3-Clause
// One rank's schedule in words and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil::tool {

/// Per part and step, what the rank moves, sends and receives.
std::string schedule_text(const Torus& torus, const Algorithm& algorithm, const Schedule& schedule);

/// The same as data, complete enough to be run: whose it is (collective, algorithm, torus, ranks,
/// rank, root or null), and parts -> steps -> moves, sends, receives; extents as [first, count].
/// Where ranks have blocks, parts say by `owners` whose block each position is.
nlohmann::ordered_json schedule_json(const Torus& torus, const Algorithm& algorithm,
                                     const BuildOptions& options, const Schedule& schedule);

/// "rank 5 (1,2)"
std::string rank_text(const Torus& torus, Rank rank);

/// numerator/denominator of the vector, reduced: "1/4", "1", "0".
std::string fraction_text(std::uint64_t numerator, std::uint64_t denominator);

}  // namespace trefoil::tool
