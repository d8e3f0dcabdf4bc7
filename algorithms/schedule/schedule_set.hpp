// SPDX-License-Identifier: BSD-3-Clause
// The schedules of all ranks, kept rather than built: what a user brings.
#pragma once

#include <cstddef>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Immutable once made. What an algorithm tells of itself by functions stands here as data.
struct ScheduleSet {
    Collective collective = Collective::allreduce;
    Torus torus{{1}};
    Rank root = 0;                    ///< of rooted collectives
    bool steered = false;             ///< as Traits::steered
    std::vector<Schedule> schedules;  ///< by rank
    /// Where blocks have owners, by part: as Algorithm::owners.
    std::vector<std::vector<Rank>> owners;
};

/// The most that one rank receives from one peer through one port, in all parts together.
struct LandingNeeds {
    double vectors = 0;       ///< of data
    std::size_t extents = 0;  ///< runs of blocks; each may be a unit longer than its share
    std::size_t messages = 0;
};
LandingNeeds landing_needs(const ScheduleSet& set);

}  // namespace trefoil
