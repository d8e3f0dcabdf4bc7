// SPDX-License-Identifier: BSD-3-Clause
// The step model: the busiest link of every step, for any network; the closing barrier.
#include <algorithm>
#include <vector>

#include "algorithms/simulation/models.hpp"

namespace trefoil {

namespace {

/// What the longest of all ranks' work in a step takes, all parts together.
double work_of_step(const Traffic& traffic, std::size_t step, double vector_bytes,
                    const MessageCosts& costs) {
    double longest = 0;
    for (Rank c = 0; costs.has_work() && c < traffic.classes(); ++c) {
        double copied = 0, reduced = 0;
        for (std::size_t p = 0; p < traffic.parts(); ++p) {
            const std::size_t place = traffic.place(c, p, step);
            const TrafficWork& work = traffic.work(place);
            copied += work.copied_before + work.copied_after;
            reduced += work.reduced_before + work.reduced_after;
            for (const TrafficMessage& m : traffic.sends(place)) {
                copied += m.gathered ? m.share : 0;
            }
        }
        longest = std::max(
            longest, costs.copying(copied * vector_bytes) + costs.reducing(reduced * vector_bytes));
    }
    return longest;
}

}  // namespace

double step_time(const Network& network, const Traffic& traffic, double vector_bytes,
                 const MessageCosts& costs) {
    std::vector<double> load(static_cast<std::size_t>(network.links()));
    std::vector<std::int64_t> loaded;
    Ways ways;
    double time = 0;
    for (std::size_t s = 0; s < traffic.steps(); ++s) {
        double delay = 0;
        for (Rank c = 0; c < traffic.classes(); ++c) {
            for (std::size_t p = 0; p < traffic.parts(); ++p) {
                for (const TrafficMessage& m : traffic.sends(traffic.place(c, p, s))) {
                    network.route(traffic.journey(c, m), ways);
                    delay = std::max(delay, ways.delay(costs.alpha, costs.hop));
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
        time += delay + longest * vector_bytes;
        time += work_of_step(traffic, s, vector_bytes, costs);
    }
    return time;
}

double closing_barrier_time(const Network& network, double message, double hop) {
    const Rank ranks = network.torus().ranks();
    std::vector<double> below(static_cast<std::size_t>(ranks));  // longest way up to each rank
    Ways ways;
    for (Rank r = ranks - 1; r > 0; --r) {
        const Rank parent = (r - 1) / 2;
        network.route(r, parent, ways);
        double& longest = below[static_cast<std::size_t>(parent)];
        longest = std::max(longest, below[static_cast<std::size_t>(r)] + ways.delay(message, hop));
    }
    return 2 * (ranks > 0 ? below[0] : 0);
}

}  // namespace trefoil
