// SPDX-License-Identifier: BSD-3-Clause
// `trefoil sim --reconfigurable`: collectives on machines whose circuits change between steps.
#pragma once

#include "bench/sim/command_line.hpp"

namespace trefoil::tool {

/// Adds what belongs to changing circuits to `command`; the values go into given.circuits and
/// given.map.
void add_rewiring_options(CLI::App& command, SimCommandLine& given);

/// True when any of these options was typed.
bool asks_for_circuits(const CLI::App& command);

/// The whole of such a `trefoil sim`. `command` tells which options were typed.
int sim_with_circuits(const CLI::App& command, const SimCommandLine& given);

}  // namespace trefoil::tool
