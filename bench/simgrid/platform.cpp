// SPDX-License-Identifier: BSD-3-Clause
// Links without latency, and a route for each way.
#include "bench/simgrid/platform.hpp"

#include <cmath>
#include <map>
#include <string>

namespace trefoil::simgrid_engine {

namespace s4u = simgrid::s4u;

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
    s4u::NetZone* const zone = s4u::create_full_zone("network");
    const int lanes = hosts_per_rank(job);
    std::vector<s4u::Host*> hosts;
    for (int i = 0; i < job.ranks * lanes; ++i) {
        hosts.push_back(zone->create_host("host" + std::to_string(i), 1));
    }
    std::vector<s4u::Link*> links;
    for (const double rate : job.rates) {
        s4u::Link* const link = zone->create_link("link" + std::to_string(links.size()), rate);
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
        zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
        pairs_.emplace_back(from, to);
    }
    zone->seal();
}

}  // namespace trefoil::simgrid_engine
