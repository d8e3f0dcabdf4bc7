// SPDX-License-Identifier: BSD-3-Clause
// A run of the flow model with all that happens in it, for who draws it.
#pragma once

#include <vector>

#include "algorithms/simulation/network.hpp"
#include "bench/player/schedule_data.hpp"
#include "bench/player/time_data.hpp"
#include "bench/sim/options.hpp"
#include "comm/plan/choices.hpp"

namespace trefoil::tool {

/// Of options.sizes[0]. `order`: the messages as schedule_data() wrote them. All but `words` is
/// filled in. Throws Error as the engine does.
TimeData flow_times(const SimOptions& options, const Network& network, const Choice& choice,
                    const std::vector<SentAs>& order);

}  // namespace trefoil::tool
