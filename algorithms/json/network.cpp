// SPDX-License-Identifier: BSD-3-Clause
// Twists come before links, whose other ends they decide; each link is described once.
#include "algorithms/json/network.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/json/checked_object.hpp"
#include "topo/error.hpp"
#include "topo/json_reason.hpp"

namespace trefoil {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr const char* network_subject = "network";
constexpr Rank most_places = std::numeric_limits<Rank>::max();

[[noreturn]] void refuse_network(const std::string& place, const std::string& reason) {
    refuse_text(network_subject, place, reason);
}

/// What the fabric refuses, with the place in the text.
template <typename Change>
auto at_place(const std::string& place, Change&& change) {
    try {
        return change();
    } catch (const Error& error) {
        refuse_network(place, error.what());
    }
}

/// Calls visit(entry, place) for each entry of a list; none where the list is missing.
template <typename Visit>
void for_each_entry(const CheckedObject& object, const char* name, Visit&& visit) {
    if (!object.has(name)) {
        return;
    }
    const json& list = object.list(name);
    for (std::size_t i = 0; i < list.size(); ++i) {
        visit(list[i], std::string(name) + "[" + std::to_string(i) + "]");
    }
}

int rate_of(const CheckedObject& object) {
    const json& value = object.at("rate");
    const double thousandths = value.is_number() ? value.get<double>() * Fabric::whole : -1;
    if (!(thousandths >= 0 && thousandths <= Fabric::whole) ||
        std::abs(thousandths - std::round(thousandths)) > 1e-6) {
        refuse_network(object.place(), "\"rate\" is " + value.dump() +
                                           ", not a number from 0 to 1 with at most three digits "
                                           "behind the point");
    }
    return static_cast<int>(std::lround(thousandths));
}

Rank place_of(const CheckedObject& object) {
    return static_cast<Rank>(object.number("place", 0, most_places));
}

Link link_of(const CheckedObject& object, const Torus& torus) {
    const std::string direction = object.text("direction");
    for (int p = 0; p < torus.ports(); ++p) {
        if (to_string(Port{p}) == direction) {
            return {place_of(object), Port{p}};
        }
    }
    refuse_network(object.place(), "\"direction\" is \"" + direction + "\"; those of " +
                                       torus.name() + " are +0 to -" +
                                       std::to_string(torus.dimensions() - 1));
}

Torus torus_of(const CheckedObject& network) {
    std::vector<Rank> sizes;
    std::vector<bool> lines;
    for_each_entry(network, "dimensions", [&](const json& entry, const std::string& place) {
        const CheckedObject dimension(
            entry, place, {{"size", true}, {"closes", false}, {"twist", false}}, network_subject);
        sizes.push_back(static_cast<Rank>(dimension.number("size", 1, most_places)));
        lines.push_back(dimension.has("closes") && !dimension.flag("closes"));
    });
    return at_place("dimensions", [&] { return Torus(sizes, lines); });
}

void read_twists(const CheckedObject& network, Fabric& fabric) {
    int number = 0;
    for_each_entry(network, "dimensions", [&](const json& entry, const std::string& place) {
        const int dimension = number++;
        if (!entry.contains("twist")) {
            return;
        }
        const std::string there = place + ".twist";
        const CheckedObject twist(entry.at("twist"), there, {{"along", true}, {"shift", true}},
                                  network_subject);
        const auto along = static_cast<int>(twist.number("along", 0, most_places));
        const auto shift = static_cast<Rank>(twist.number("shift", 0, most_places));
        at_place(there, [&] { fabric.set_twist(dimension, along, shift); });
    });
}

void read_nodes(const CheckedObject& network, Fabric& fabric) {
    std::set<Rank> described;
    for_each_entry(network, "nodes", [&](const json& entry, const std::string& place) {
        const CheckedObject node(entry, place, {{"place", true}, {"rate", true}}, network_subject);
        if (!described.insert(place_of(node)).second) {
            refuse_network(place, "this node is described before");
        }
        const int rate = rate_of(node);
        at_place(place, [&] { fabric.set_node(place_of(node), rate); });
    });
}

void read_links(const CheckedObject& network, Fabric& fabric) {
    std::set<std::pair<Rank, Port>> described;
    for (const bool is_cable : {true, false}) {
        for_each_entry(
            network, is_cable ? "cables" : "links",
            [&](const json& entry, const std::string& place) {
                const CheckedObject object(entry, place,
                                           {{"place", true}, {"direction", true}, {"rate", true}},
                                           network_subject);
                const Link link = link_of(object, fabric.torus());
                const int rate = rate_of(object);
                at_place(place, [&] {
                    is_cable ? fabric.set_cable(link, rate) : fabric.set_link(link, rate);
                });
                bool is_new = described.insert({link.from, link.port}).second;
                if (is_cable) {
                    const auto back = std::pair(fabric.neighbour(link), link.port.opposite());
                    is_new = described.insert(back).second && is_new;
                }
                if (!is_new) {
                    refuse_network(place, "this link is described before");
                }
            });
    }
}

ordered_json rate_json(int rate) {
    return rate == 0 ? ordered_json(0) : ordered_json(static_cast<double>(rate) / Fabric::whole);
}

}  // namespace

Fabric read_network(std::string_view text) {
    json value;
    try {
        value = json::parse(text);
    } catch (const json::exception& error) {
        refuse_network("", "it is not JSON: " + json_reason(error));
    }
    const CheckedObject network(
        value, "", {{"dimensions", true}, {"nodes", false}, {"cables", false}, {"links", false}},
        network_subject);
    const Torus torus = torus_of(network);
    Fabric fabric = at_place("dimensions", [&] { return Fabric(torus); });
    read_twists(network, fabric);
    read_nodes(network, fabric);
    read_links(network, fabric);
    return fabric;
}

ordered_json network_json(const Fabric& fabric) {
    const Torus& torus = fabric.torus();
    ordered_json network;
    for (int j = 0; j < torus.dimensions(); ++j) {
        ordered_json dimension{{"size", torus.size(j)}};
        if (torus.is_line(j)) {
            dimension["closes"] = false;
        }
        if (const auto twist = fabric.twists().find(j); twist != fabric.twists().end()) {
            dimension["twist"] = {{"along", twist->second.along}, {"shift", twist->second.shift}};
        }
        network["dimensions"].push_back(std::move(dimension));
    }
    for (const auto& [place, rate] : fabric.node_rates()) {
        network["nodes"].push_back({{"place", place}, {"rate", rate_json(rate)}});
    }
    for (const Fabric::SlowLink& slow : fabric.slow_links()) {
        network[slow.is_cable ? "cables" : "links"].push_back(
            {{"place", slow.link.from},
             {"direction", to_string(slow.link.port)},
             {"rate", rate_json(slow.rate)}});
    }
    return network;
}

}  // namespace trefoil
