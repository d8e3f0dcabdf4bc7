// SPDX-License-Identifier: BSD-3-Clause
// Links the other way.
#include "algorithms/packing/links.hpp"

#include <algorithm>
#include <queue>
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

int least_needed_rate(const std::vector<FabricLink>& links, const std::vector<int>& rates,
                      Rank ranks, Rank root) {
    std::vector<std::vector<int>> out(to_index(ranks));
    for (std::size_t i = 0; i < links.size(); ++i) {
        out[to_index(links[i].from)].push_back(static_cast<int>(i));
    }
    // Always over the fastest link that leads on (Prim's way).
    std::vector<bool> reached(to_index(ranks));
    std::priority_queue<std::pair<int, Rank>> next;
    int least = Fabric::whole;
    Rank left = ranks;
    next.push({Fabric::whole, root});
    while (!next.empty() && left > 0) {
        const auto [rate, here] = next.top();
        next.pop();
        if (reached[to_index(here)]) {
            continue;
        }
        reached[to_index(here)] = true;
        least = std::min(least, rate);
        --left;
        for (const int link : out[to_index(here)]) {
            if (rates[to_index(link)] > 0) {
                next.push({rates[to_index(link)], links[to_index(link)].to});
            }
        }
    }
    return left > 0 ? 0 : least;
}

std::vector<int> rates_both_ways(const std::vector<FabricLink>& links,
                                 const std::vector<int>& back) {
    std::vector<int> rates;
    for (std::size_t i = 0; i < links.size(); ++i) {
        rates.push_back(back[i] < 0 ? 0 : std::min(links[i].rate, links[to_index(back[i])].rate));
    }
    return rates;
}

}  // namespace trefoil
