// SPDX-License-Identifier: BSD-3-Clause
// What a call uses: an algorithm with its options. And how users write what they force.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"
#include "topo/sizes.hpp"

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

/// An entry of TREFOIL_ALGORITHM.
struct AlgorithmRule {
    std::string text = {};  ///< as it was written, for messages
    Collective collective = Collective::allreduce;
    SizeRange bytes = {};  ///< of the whole vector; all of them where none were named
    bool has_range = false;
    std::string algorithm = {};  ///< what parse_choice() reads
};

/// "swing-b" (of allreduce), or "allreduce=swing-b,bcast:64K-1M=bine-dd". Throws Error(not_found)
/// for a collective, Error(invalid_argument) for a range that makes no sense or meets another one
/// of its collective; either names the entry.
std::vector<AlgorithmRule> split_choices(std::string_view text);

}  // namespace trefoil
