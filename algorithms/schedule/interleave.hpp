// SPDX-License-Identifier: BSD-3-Clause
// The order in which concurrent parts move along the dimensions of a torus.
#pragma once

#include <span>
#include <vector>

namespace trefoil {

/// Interleaved order of part p when dimension j needs steps[j] steps: in step i the first
/// unfinished dimension among p+i, p+i+1, ... (modulo D), counted over the D dimensions that need
/// any. So the parts use different dimensions for as long as all of them last.
std::vector<int> interleaved(std::span<const int> steps, int part);

}  // namespace trefoil
