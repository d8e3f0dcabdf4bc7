// SPDX-License-Identifier: BSD-3-Clause
// Builders of scan and exscan, in which rank r takes the reduction of what lower ranks brought.
#pragma once

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/options.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// `collective` is scan or exscan. All contributions are combined in the order of the ranks.
Schedule build_scan_doubling(Collective collective, const Torus& torus, Rank rank);
/// The same; BuildOptions::pieces says into how many pieces the vector is cut.
Schedule build_scan_chain(Collective collective, const Torus& torus, Rank rank,
                          const BuildOptions& options);

}  // namespace trefoil
