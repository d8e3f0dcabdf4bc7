// SPDX-License-Identifier: BSD-3-Clause
// The list of ways.
#include "algorithms/simulation/network.hpp"

#include <algorithm>

namespace trefoil {

void Ways::clear() {
    shares_.clear();
    starts_.clear();
    links_.clear();
}

void Ways::begin(double share) {
    shares_.push_back(share);
    starts_.push_back(links_.size());
}

std::span<const std::int64_t> Ways::links(std::size_t way) const {
    const std::size_t end = way + 1 < starts_.size() ? starts_[way + 1] : links_.size();
    return std::span(links_).subspan(starts_[way], end - starts_[way]);
}

int Ways::hops() const {
    std::size_t most = 0;
    for (std::size_t way = 0; way < count(); ++way) {
        most = std::max(most, links(way).size());
    }
    return static_cast<int>(most);
}

}  // namespace trefoil
