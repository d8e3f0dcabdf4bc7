// SPDX-License-Identifier: BSD-3-Clause
// A peer group as seen from one of ours; all ports that lead to it share it.
#pragma once

#include <memory>
#include <utility>

#include "backend/memory/group.hpp"

namespace trefoil::memory {

inline Front& front_in(const Region& region) {
    return *reinterpret_cast<Front*>(region.data());
}

/// The kernel may forbid access to processes whose files it lets us open, so it is tried.
Reach reach_of(const Region& region);

struct MemoryGroup::Target {
    explicit Target(std::shared_ptr<Region> target)
        : region(std::move(target)), writer(front_in(*region).queue), reach(reach_of(*region)) {}
    PullOffers& offers() { return front_in(*region).offers; }

    std::shared_ptr<Region> region;
    QueueWriter writer;
    ImageView images;
    Reach reach;
    std::uint32_t refusals = 0;  ///< since the last put that was accepted
};

}  // namespace trefoil::memory
