// SPDX-License-Identifier: BSD-3-Clause
// Which faults a rank injects into what it sends and receives, as TREFOIL_FAULTS says.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// Chances are from 0 to 1; what is 0 never happens. The first two keep the contract of a port
/// group, the others break it.
struct FaultPlan {
    std::uint64_t seed = 0;
    std::vector<Rank> ranks;            ///< who injects faults; empty: all
    std::chrono::microseconds delay{};  ///< the longest, of each put and of each arrival
    std::uint32_t again = 0;            ///< so often at most is a put told to try again
    std::uint32_t stall = 0;  ///< from one of so many puts on, all are told so for ever; 0: never
    std::uint32_t close = 0;  ///< from one of so many puts on, nothing gets to one peer; 0: never
    double fail = 0;          ///< the put is refused
    double drop = 0;          ///< it never arrives
    double twice = 0;         ///< its notification arrives twice
    double flip = 0;          ///< one bit of its payload arrives changed

    bool concerns(Rank rank) const;
};

/// "seed:KIND=VALUE,...", as the page on environment variables describes it. Throws
/// Error(invalid_argument) that says what is wrong and what there is.
FaultPlan parse_faults(std::string_view text);

}  // namespace trefoil
