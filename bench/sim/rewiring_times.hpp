// SPDX-License-Identifier: BSD-3-Clause
// The cheapest sequence of wirings of a schedule in time, for who draws it.
#pragma once

#include <vector>

#include "bench/player/schedule_data.hpp"
#include "bench/player/time_data.hpp"
#include "bench/sim/rewiring_runs.hpp"

namespace trefoil::tool {

/// Of question.sim.sizes[0]. `order`: the messages as schedule_data() wrote them. All but `words`
/// is filled in.
TimeData rewiring_times(const RewiringQuestion& question, const RewiringField& field,
                        const RewiringSubject& subject, const std::vector<SentAs>& order);

}  // namespace trefoil::tool
