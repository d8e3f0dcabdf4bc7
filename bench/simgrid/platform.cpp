// SPDX-License-Identifier: BSD-3-Clause
// Links without latency, and a route for each way.
#include "bench/simgrid/platform.hpp"

#include <cmath>
#include <map>
#include <string>

#include "bench/simgrid/release.hpp"

namespace trefoil::simgrid_engine {

namespace {

/// How many hosts of each rank it takes to tell so many ways between two ranks apart.
int hosts_per_rank(const Job& job) {
    std::map<std::pair<int, int>, int> ways;
    int most = 1;
    for (const Way& way : job.ways) {
        most = std::max(most, ++ways[{way.from, way.to}]);
    }
    return static_cast<int>(std::ceil(std::sqrt(most)));
}

}  // namespace

Platform::Platform(const Job& job) {
    s4u::NetZone* const zone = new_network("network");
    const int lanes = hosts_per_rank(job);
    std::vector<s4u::Host*> hosts;
    for (int i = 0; i < job.ranks * lanes; ++i) {
        hosts.push_back(new_host(*zone, "host" + std::to_string(i), 1));
    }
    std::vector<s4u::Link*> links;
    for (const double rate : job.rates) {
        s4u::Link* const link = new_link(*zone, "link" + std::to_string(links.size()), rate);
        links.push_back(link->set_latency(0)->seal());
    }
    std::map<std::pair<int, int>, int> used;
    for (const Way& way : job.ways) {
        const int number = used[{way.from, way.to}]++;
        s4u::Host* const from = hosts[static_cast<std::size_t>(way.from * lanes + number / lanes)];
        s4u::Host* const to = hosts[static_cast<std::size_t>(way.to * lanes + number % lanes)];
        std::vector<s4u::LinkInRoute> route;
        for (const std::size_t link : way.links) {
            route.emplace_back(links[link]);
        }
        add_route(*zone, from, to, route);
        pairs_.emplace_back(from, to);
    }
    zone->seal();
}

}  // namespace trefoil::simgrid_engine
