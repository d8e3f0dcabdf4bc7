// SPDX-License-Identifier: BSD-3-Clause
// When each part of trivance-b moves along which dimension.
#pragma once

#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// By part, the dimension that moves in each step of the reduce-scatter. On tori whose dimensions
/// are of one size these are D parts that take turns (algorithms/schedule/interleave.hpp): links of
/// all dimensions carry alike in each step. On others a bounded search evens the dimensions out: it
/// begins with D to 2D such parts and exchanges steps while the load falls. Messages cost, too, so
/// a part more has to save 5 % of the load, and so has a message more through one port in a step.
/// Deterministic, so that all ranks agree. Orders are kept; thread-safe.
///
///     2x4:   0 1 1,  1 0 1,  1 1 0     load 0.542; two parts that take turns have 0.688
std::vector<std::vector<int>> trivance_orders(const Torus& torus);

}  // namespace trefoil
