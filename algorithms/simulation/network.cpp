// SPDX-License-Identifier: BSD-3-Clause
// The list of ways.
#include "algorithms/simulation/network.hpp"

#include <algorithm>

#include "topo/error.hpp"

namespace trefoil {

void Ways::clear() {
    ways_.clear();
    links_.clear();
}

void Ways::begin(double share) {
    ways_.push_back({share, 0, links_.size(), 0});
}

std::span<const std::int64_t> Ways::links(std::size_t way) const {
    const std::size_t end = way + 1 < ways_.size() ? ways_[way + 1].start : links_.size();
    return std::span(links_).subspan(ways_[way].start, end - ways_[way].start);
}

int Ways::hops() const {
    int most = 0;
    for (const Way& way : ways_) {
        most = std::max(most, way.hops);
    }
    return most;
}

double Ways::delay(double alpha, double hop) const {
    double longest = 0;
    for (const Way& way : ways_) {
        const double outside = way.hops > 0 ? alpha + way.hops * hop : 0;
        longest = std::max(longest, way.latency + outside);
    }
    return longest;
}

double Network::rate(std::int64_t link) const {
    if (changed()) {
        const auto found = changed_.find(link);
        if (found != changed_.end()) {
            return found->second;
        }
    }
    std::size_t block = blocks_.size() - 1;
    while (blocks_[block].first > link) {
        --block;
    }
    return blocks_[block].second;
}

void Network::require_working(const Journey& journey, const Ways& ways) const {
    for (std::size_t w = 0; changed() && w < ways.count(); ++w) {
        for (const std::int64_t link : ways.links(w)) {
            if (rate(link) == 0) {
                throw Error(Status::unsupported, "links that are down leave no way from rank " +
                                                     std::to_string(journey.from) + " to rank " +
                                                     std::to_string(journey.to));
            }
        }
    }
}

}  // namespace trefoil
