// SPDX-License-Identifier: BSD-3-Clause
// `trefoil plan --circuits`: what circuit switches have to make for each step of a schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/sim/rewiring_options.hpp"
#include "comm/plan/choices.hpp"

namespace trefoil::tool {

/// As typed.
struct PlanCircuitsCommandLine {
    CircuitsCommandLine circuits;
    std::string alpha, hop, rate;  ///< empty: those of the machine short-circuit
};

/// Adds the options; `given` outlives the parsing.
void add_plan_circuits(CLI::App& command, PlanCircuitsCommandLine& given);

/// True when any of the options was typed.
bool asks_for_plan_circuits(const CLI::App& command);

/// json: with every circuit. schedules: of all ranks, whose steps name their circuits.
enum class CircuitsForm : std::uint8_t { text, json, schedules };

/// Prints the wiring of each step, and proves that each step's messages get through.
/// `schedules_proved`: what the verifier said; nothing: not asked. Returns the exit
/// code. Throws Error(unsupported) that names a step whose own circuits cannot be made.
int print_circuits(const PlanCircuitsCommandLine& given, const Torus& torus, const Choice& choice,
                   const std::string& bytes, CircuitsForm form,
                   std::optional<bool> schedules_proved);

}  // namespace trefoil::tool
