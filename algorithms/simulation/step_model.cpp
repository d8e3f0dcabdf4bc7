// SPDX-License-Identifier: BSD-3-Clause
// The step model: the busiest link of every step, for any network; the closing barrier.
#include <algorithm>
#include <vector>

#include "algorithms/simulation/models.hpp"

namespace trefoil {

double step_time(const Network& network, const Traffic& traffic, double vector_bytes,
                 const MessageCosts& costs) {
    std::vector<double> load(static_cast<std::size_t>(network.links()));
    std::vector<std::int64_t> loaded;
    Ways ways;
    double time = 0;
    for (std::size_t s = 0; s < traffic.steps(); ++s) {
        int hops = 0;
        bool anybody = false;
        for (Rank r = 0; r < traffic.ranks(); ++r) {
            for (std::size_t p = 0; p < traffic.parts(); ++p) {
                for (const TrafficMessage& m : traffic.sends(traffic.place(r, p, s))) {
                    anybody = true;
                    network.route(r, m.to, traffic.steered(m), ways);
                    hops = std::max(hops, ways.hops());
                    for (std::size_t w = 0; w < ways.count(); ++w) {
                        for (const std::int64_t link : ways.links(w)) {
                            if (load[static_cast<std::size_t>(link)] == 0) {
                                loaded.push_back(link);
                            }
                            load[static_cast<std::size_t>(link)] += m.share * ways.share(w);
                        }
                    }
                }
            }
        }
        double longest = 0;
        for (const std::int64_t link : loaded) {
            longest = std::max(longest, load[static_cast<std::size_t>(link)] / network.rate(link));
            load[static_cast<std::size_t>(link)] = 0;
        }
        loaded.clear();
        time += anybody ? costs.alpha + costs.hop * hops + longest * vector_bytes : 0;
    }
    return time;
}

double closing_barrier_time(const Network& network, double message, double hop) {
    const Rank ranks = network.torus().ranks();
    std::vector<double> below(static_cast<std::size_t>(ranks));  // longest way up to each rank
    std::vector<double> edge(below.size());
    Ways ways;
    for (Rank r = ranks - 1; r > 0; --r) {
        const Rank parent = (r - 1) / 2;
        network.route(r, parent, {}, ways);
        edge[r] = message + hop * ways.hops();
        below[parent] = std::max(below[parent], below[r] + edge[r]);
    }
    return 2 * (ranks > 0 ? below[0] : 0);
}

}  // namespace trefoil
