// SPDX-License-Identifier: BSD-3-Clause
// What holds of all routes, and those from one root.
#include "algorithms/packing/routes.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/packing/max_flow.hpp"

namespace trefoil {

namespace {

/// A way from the root over links that still have flow, the fewest; it takes a unit from each.
std::vector<int> take_way(const std::vector<FabricLink>& links,
                          const std::vector<std::vector<int>>& out, Rank root, Rank to,
                          std::vector<std::int64_t>& flow) {
    std::vector<int> via(out.size(), -1);
    std::vector<Rank> queue{root};
    for (std::size_t i = 0; i < queue.size() && via[to_index(to)] < 0; ++i) {
        for (const int link : out[to_index(queue[i])]) {
            const Rank next = links[to_index(link)].to;
            if (next != root && via[to_index(next)] < 0 && flow[to_index(link)] > 0) {
                via[to_index(next)] = link;
                queue.push_back(next);
            }
        }
    }
    std::vector<int> way;
    for (Rank here = to; here != root; here = links[to_index(way.back())].from) {
        way.push_back(via[to_index(here)]);
        --flow[to_index(way.back())];
    }
    std::reverse(way.begin(), way.end());
    return way;
}

}  // namespace

std::vector<int> BlockRoutes::loads() const {
    std::vector<int> load(links.size());
    for (const BlockRoute& route : routes) {
        for (const int link : route.links) {
            ++load[to_index(link)];
        }
    }
    return load;
}

double BlockRoutes::time() const {
    const std::vector<int> load = loads();
    double most = 0;
    for (std::size_t i = 0; i < links.size(); ++i) {
        most = std::max(most, static_cast<double>(load[i]) * Fabric::whole / links[i].rate);
    }
    return most / parts / ranks;
}

BlockRoutes route_from_root(const std::vector<FabricLink>& links, Rank ranks, Rank root, int parts,
                            double bound) {
    std::vector<std::vector<int>> out(to_index(ranks));
    for (std::size_t i = 0; i < links.size(); ++i) {
        out[to_index(links[i].from)].push_back(static_cast<int>(i));
    }
    // What a whole link may carry, in thousandths of parts: the least that suffices, in steps of a
    // tenth of a part from what the bound says. Slow links may take thousands of these, so the
    // steps double until enough, and the last one is halved.
    const auto first = static_cast<std::int64_t>(
        std::ceil(bound * static_cast<double>(parts * ranks) * Fabric::whole - 1e-3));
    std::vector<std::int64_t> flow;
    const auto suffices = [&](std::int64_t tenths) {
        const std::int64_t most = first + tenths * (Fabric::whole / 10);
        MaxFlow all(ranks + 1);
        for (const FabricLink& link : links) {
            all.arc(link.from, link.to, most * link.rate / Fabric::whole / Fabric::whole);
        }
        for (Rank r = 0; r < ranks; ++r) {
            all.arc(r, ranks, r == root ? 0 : parts);
        }
        if (all.run(root, ranks) < std::int64_t{ranks - 1} * parts) {
            return false;
        }
        flow.clear();
        for (std::size_t i = 0; i < links.size(); ++i) {
            flow.push_back(all.through(static_cast<int>(i)));
        }
        return true;
    };
    std::int64_t too_few = -1, enough = 0;
    while (!suffices(enough)) {
        too_few = enough;
        enough = 2 * enough + 1;
    }
    while (enough - too_few > 1) {
        const std::int64_t middle = (too_few + enough) / 2;
        (suffices(middle) ? enough : too_few) = middle;
    }
    BlockRoutes found{links, ranks, parts, {}};
    for (int part = 0; part < parts; ++part) {
        for (Rank r = 0; r < ranks; ++r) {
            if (r != root) {
                found.routes.push_back({root, r, take_way(links, out, root, r, flow)});
            }
        }
    }
    return found;
}

}  // namespace trefoil
