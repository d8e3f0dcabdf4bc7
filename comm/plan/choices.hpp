// SPDX-License-Identifier: BSD-3-Clause
// What a call uses: an algorithm with its options. And how users write what they force.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// Complete, it is all that a plan needs to know beside the request. What a user forces leaves open
/// what Chooser fills in.
struct Choice {
    const Algorithm* algorithm = nullptr;  ///< null: auto
    BuildOptions options;
    friend bool operator==(const Choice&, const Choice&) = default;
};

/// The name with its modifiers, as parse_choice() reads it; "auto".
std::string to_string(const Choice& choice);

/// Empty when the choice runs on this torus, else the reason why not.
std::string refusal(const Choice& choice, const Torus& torus);

/// "auto", a name, or a name with modifiers: "swing:send", "spanning-trees:pieces-8". Throws
/// Error(not_found) that offers the nearest names, Error(invalid_argument) for a bad modifier.
Choice parse_choice(Collective collective, std::string_view text);
/// The same; throws also Error(unsupported) when the torus or the algorithm does not suit.
Choice parse_choice(Collective collective, std::string_view text, const Torus& torus);

/// "swing-b" (of allreduce), or "allreduce=swing-b,bcast=bine-dd". Throws Error(not_found).
std::vector<std::pair<Collective, std::string>> split_choices(std::string_view text);

}  // namespace trefoil
