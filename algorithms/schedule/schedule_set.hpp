// SPDX-License-Identifier: BSD-3-Clause
// The schedules of all ranks, kept rather than built: what a user brings.
#pragma once

#include <cstddef>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// From a step of all parts on, the ranks are wired otherwise than as the torus.
struct CircuitChange {
    std::size_t step = 0;
    /// By rank and port (rank * ports + port): the rank to whose opposite port a circuit leads from
    /// there, both ways; `dark` where there is none.
    std::vector<Rank> peers;
    static constexpr Rank dark = -1;
};

/// Immutable once made. What an algorithm tells of itself by functions stands here as data.
struct ScheduleSet {
    Collective collective = Collective::allreduce;
    Torus torus{{1}};
    Rank root = 0;                    ///< of rooted collectives
    bool steered = false;             ///< as Traits::steered
    std::vector<Schedule> schedules;  ///< by rank
    /// Where blocks have owners, by part: as Algorithm::owners.
    std::vector<std::vector<Rank>> owners;
    /// Ascending by step; before the first one the torus stands.
    std::vector<CircuitChange> changes = {};
    /// Steps of another set between two changes: its ranks have not heard from all when it is over.
    bool is_stage = false;
};

/// The most that one rank receives from one peer through one port, in all parts together.
struct LandingNeeds {
    double vectors = 0;       ///< of data
    std::size_t extents = 0;  ///< runs of blocks; each may be a unit longer than its share
    std::size_t messages = 0;
};
LandingNeeds landing_needs(const ScheduleSet& set);

}  // namespace trefoil
