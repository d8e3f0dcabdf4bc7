// SPDX-License-Identifier: BSD-3-Clause
// The timeline of `trefoil perf --trace`: the ranks' files, joined to one.
#pragma once

#include <string>

#include "topo/torus.hpp"

namespace trefoil::tool {

/// Has every communicator of this process and its children write its timeline. Before threads run.
void begin_traces(const std::string& file);
/// No further communicator does. Not while another thread reads the environment.
void end_traces();
/// Joins what the ranks have written to `file` and removes their files; says which ranks' files are
/// not here. Throws Error(system_error) when it cannot write.
void join_traces(const std::string& file, Rank ranks);

}  // namespace trefoil::tool
