// SPDX-License-Identifier: BSD-3-Clause
// The options about circuits that change during a collective: what was typed, and what it means.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "algorithms/rewiring/rewiring.hpp"

namespace trefoil::tool {

/// The group of these options in --help.
inline constexpr const char* circuits_group = "Circuits that change";

/// As typed. The defaults are the conventions.
struct CircuitsCommandLine {
    std::string reconfigurable;  ///< empty: not given
    std::string circuits = "own", tie = "both", start = "ring", end = "any", barrier = "0",
                switched = "all";
    bool paired = false;
};

/// What the options say; times in seconds.
struct Circuits {
    RewiringOptions options;
    /// Without alpha, hop and byte, which are the machine's.
    RewiringCosts costs;
    /// All that was given for --reconfigurable; costs has the first.
    std::vector<double> reconfigurations;
};

/// Adds them in a group of their own; `given` outlives the parsing.
void add_circuits_options(CLI::App& command, CircuitsCommandLine& given);
/// `reconfigurable` may be a list. Throws Error(invalid_argument).
Circuits read_circuits(const CircuitsCommandLine& given);

/// The conventions in effect, as data and in words.
nlohmann::ordered_json conventions_json(const Circuits& circuits);
std::string conventions_text(const Circuits& circuits);

}  // namespace trefoil::tool
