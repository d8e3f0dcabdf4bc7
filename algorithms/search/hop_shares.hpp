// SPDX-License-Identifier: BSD-3-Clause
// How the hops of a search are shared out among its steps.
#pragma once

#include <vector>

namespace trefoil {

/// Up to `most` ways to share out `hops` among `steps` steps, at least one each, of which the first
/// ones are nearest to shares that shrink from step to step, each being the one before it by the
/// square root of `growth_squared` (> 1). Their number is bounded, so it takes time in proportion
/// to the steps. All machines find the same, in the same order.
std::vector<std::vector<int>> hop_shares(int steps, int hops, int growth_squared, std::size_t most);

}  // namespace trefoil
