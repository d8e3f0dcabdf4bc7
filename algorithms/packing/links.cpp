// SPDX-License-Identifier: BSD-3-Clause
// Links the other way.
#include "algorithms/packing/links.hpp"

#include <algorithm>
#include <utility>

namespace trefoil {

std::vector<FabricLink> reversed(std::vector<FabricLink> links) {
    for (FabricLink& link : links) {
        std::swap(link.from, link.to);
        link.port = link.port.opposite();
    }
    std::stable_sort(links.begin(), links.end(), [](const FabricLink& a, const FabricLink& b) {
        return std::pair(a.from, a.port) < std::pair(b.from, b.port);
    });
    return links;
}

std::vector<int> links_back(const std::vector<FabricLink>& links) {
    std::vector<int> back;
    for (const FabricLink& link : links) {
        const auto first =
            std::lower_bound(links.begin(), links.end(), link.to,
                             [](const FabricLink& one, Rank rank) { return one.from < rank; });
        int found = -1;
        for (auto one = first; one != links.end() && one->from == link.to; ++one) {
            if (one->port == link.port.opposite() && one->to == link.from) {
                found = static_cast<int>(one - links.begin());
            }
        }
        back.push_back(found);
    }
    return back;
}

}  // namespace trefoil
