// SPDX-License-Identifier: BSD-3-Clause
// Hosts as nodes.
#include "comm/setup/nodes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "topo/error.hpp"

namespace trefoil {

namespace {

/// Where each rank is: its host, counted in the order of first ranks, and its number there.
struct Hosts {
    struct Place {
        Rank host = 0, number = 0;
    };
    std::vector<Place> places;  ///< by rank
    std::vector<Rank> ranks;    ///< by host

    explicit Hosts(const Job& job) {
        for (const Rank host : job.hosts()) {
            const auto place = static_cast<std::size_t>(host);
            ranks.resize(std::max(ranks.size(), place + 1));
            places.push_back({host, ranks[place]++});
        }
    }
    Rank most() const { return *std::ranges::max_element(ranks); }
    bool equal() const { return *std::ranges::min_element(ranks) == most(); }
};

/// The torus of as many nodes that the request means; one rank: none fits.
Torus torus_of_hosts(const TorusRequest& request, Rank hosts, Rank per_node) {
    if (request.torus.empty()) {
        return Torus::of_nodes(default_torus(hosts), per_node);
    }
    const Torus asked = torus_named(request.torus, hosts);
    const bool fits = asked.has_nodes()
                          ? asked.per_node() == per_node && asked.ranks() == hosts * per_node
                          : asked.ranks() == hosts;
    return !fits ? Torus({1}) : asked.has_nodes() ? asked : Torus::of_nodes(asked, per_node);
}

/// Ranks that lie in a row of the last dimension, and they alone, are on one host.
bool is_node(const Torus& torus, const Hosts& hosts) {
    const Rank row = torus.size(torus.dimensions() - 1);
    const auto host = [&](Rank rank) { return hosts.places[static_cast<std::size_t>(rank)].host; };
    for (Rank rank = 0; rank < torus.ranks(); ++rank) {
        if (host(rank) != host(rank / row * row)) {
            return false;
        }
    }
    return row == hosts.most();
}

}  // namespace

TorusRequest with_nodes(TorusRequest request, const Job& job) {
    const Hosts hosts(job);
    if (!request.coordinates.empty() || hosts.ranks.size() < 2 || hosts.most() < 2 ||
        !hosts.equal() || !job.why_no_memory().empty()) {
        return request;
    }
    if (request.may_have_node && !request.torus.empty()) {
        const Torus asked = torus_named(request.torus, job.ranks());
        if (asked.ranks() == job.ranks() && !asked.has_nodes() && is_node(asked, hosts)) {
            request.torus = asked.with_host_dimension().name();
            request.source += ", with the nodes of the launcher";
            return request;
        }
    }
    const Torus torus =
        torus_of_hosts(request, static_cast<Rank>(hosts.ranks.size()), hosts.most());
    if (torus.ranks() != job.ranks()) {
        return request;
    }
    request.torus = torus.name();
    request.source += ", with the nodes of the launcher";
    for (const Hosts::Place& place : hosts.places) {
        request.coordinates.push_back(torus.nodes().coordinates(place.host));
        request.coordinates.back().push_back(place.number);
    }
    return request;
}

void require_nodes(const TorusMap& map, const Job& job) {
    if (map.torus.per_node() > 1 && map.torus.nodes().ranks() > 1 && !job.why_no_memory().empty()) {
        throw Error(Status::unsupported, map.source + ": torus " + map.torus.name() +
                                             " has nodes of several ranks, which need shared "
                                             "memory, but " +
                                             job.why_no_memory() + "; leave the h out");
    }
    for (Rank position = 1; position < map.torus.ranks(); ++position) {
        if (!map.torus.on_one_node(position - 1, position)) {
            continue;
        }
        const Rank a = map.rank_at[static_cast<std::size_t>(position - 1)];
        const Rank b = map.rank_at[static_cast<std::size_t>(position)];
        if (job.hosts()[static_cast<std::size_t>(a)] != job.hosts()[static_cast<std::size_t>(b)]) {
            throw Error(Status::invalid_argument,
                        map.source + ": torus " + map.torus.name() + " has ranks " +
                            std::to_string(a) + " and " + std::to_string(b) +
                            " on one node, but they run on hosts " + job.process(a).host + " and " +
                            job.process(b).host + "; start " +
                            std::to_string(map.torus.per_node()) +
                            " ranks on each host, or leave the h out");
        }
    }
}

std::string why_no_nodes(const TorusMap& map, const Job& job) {
    const Hosts hosts(job);
    if (map.torus.has_nodes() || hosts.ranks.size() < 2 || hosts.most() < 2) {
        return "";
    }
    return "ranks of a host are places of the torus of their own, as " +
           (!job.why_no_memory().empty() ? job.why_no_memory()
            : hosts.equal()
                ? map.source + " says"
                : "hosts have " + std::to_string(*std::ranges::min_element(hosts.ranks)) + " to " +
                      std::to_string(hosts.most()) + " of them");
}

}  // namespace trefoil
