// SPDX-License-Identifier: BSD-3-Clause
// Schedules in the forms of other tools.
#pragma once

#include <cstddef>
#include <string>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// No export is larger, in bytes. Each function below throws Error(unsupported) that tells about
/// how large it would be; it throws the same for what the form cannot say.
inline constexpr std::size_t largest_export = std::size_t{64} << 20;

/// GOAL, which LogGOPSim reads: what each rank sends and receives, and what waits for what. Bytes
/// are those of a vector of so many, rounded for each message. What ranks copy and reduce takes no
/// time in it.
std::string goal_text(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options,
                      double vector_bytes);

/// Graphviz: a node for each rank before each step, an edge for each message.
std::string dot_text(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options);

}  // namespace trefoil
