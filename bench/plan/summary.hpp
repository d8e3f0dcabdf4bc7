// SPDX-License-Identifier: BSD-3-Clause
// `trefoil plan --summary`: what a schedule costs over all ranks, and whether it is right.
#pragma once

#include <optional>
#include <string>

#include "comm/plan/choices.hpp"

namespace trefoil::tool {

/// The verdict of the proof, with its findings on stderr; nothing when it is skipped. Throws
/// Error(unsupported) when it needs too much memory.
std::optional<bool> prove(bool skip, const Torus& torus, const Choice& choice);

struct PlanSummaryOptions {
    std::string bytes;  ///< of a vector whose time is to be modelled; empty: none
    bool json = false;
    bool skip_proof = false;
};

/// Prints it, with the verdict of prove(). Returns the exit code: exit_wrong when the proof fails.
int print_plan_summary(const Torus& torus, const Choice& choice, const PlanSummaryOptions& options);

}  // namespace trefoil::tool
