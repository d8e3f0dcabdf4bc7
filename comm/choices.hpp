// SPDX-License-Identifier: BSD-3-Clause
// What the user forces: an algorithm by name, with modifiers, for one collective.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace trefoil {

struct Choice {
    const Algorithm* algorithm = nullptr;  ///< null: auto
    BuildOptions options;
};

/// "auto", a name, or a name with modifiers: "swing:send", "ring:single-port". Throws
/// Error(not_found) that offers the nearest names, Error(invalid_argument) for a bad modifier,
/// Error(unsupported) when the torus or the algorithm does not suit.
Choice parse_choice(Collective collective, std::string_view text, const Torus& torus);

/// "swing-b" (of allreduce), or "allreduce=swing-b,bcast=bine-dd". Throws Error(not_found).
std::vector<std::pair<Collective, std::string>> split_choices(std::string_view text);

/// Throws Error(not_found) that lists all.
Collective collective_named(std::string_view name);

}  // namespace trefoil
