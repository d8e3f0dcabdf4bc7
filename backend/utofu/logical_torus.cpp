// SPDX-License-Identifier: BSD-3-Clause
// Boxes of nodes as up to three rings, and the ranks of a node.
#include "backend/utofu/logical_torus.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>

namespace trefoil::utofu {

namespace {

constexpr std::size_t axes = 6;

constexpr const char* axis_names = "xyzabc";
/// Places from one end of the machine to the other, where the ends are neighbours; 0: they are
/// none. Of x and z only Fugaku's are known.
constexpr std::array<Rank, axes> round_trips{24, 0, 24, 0, 3, 0};

/// The values of an axis in the order of their places. They follow each other, but for one gap
/// where the nodes lie across the ends of the machine: then the order begins behind the gap. Empty:
/// there are other gaps.
std::map<Rank, Rank> places_of_axis(const std::vector<std::vector<Rank>>& places,
                                    std::size_t axis) {
    std::vector<Rank> values;
    for (const std::vector<Rank>& place : places) {
        values.push_back(place[axis]);
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    const auto is_gap = [](Rank before, Rank behind) { return behind > before + 1; };
    const auto before = std::adjacent_find(values.begin(), values.end(), is_gap);
    if (before != values.end()) {
        const bool across_the_ends = values.front() == 0 && values.back() + 1 == round_trips[axis];
        if (!across_the_ends ||
            std::adjacent_find(before + 1, values.end(), is_gap) != values.end()) {
            return {};
        }
        std::rotate(values.begin(), before + 1, values.end());
    }
    std::map<Rank, Rank> order;
    for (const Rank value : values) {
        order.emplace(value, static_cast<Rank>(order.size()));
    }
    return order;
}

/// The place on the ring through an axis of `size` places and its partner of `partners`.
Rank on_ring(Rank at, Rank size, Rank partner, Rank partners) {
    if (partners == 1) {
        return at;
    }
    const Rank columns = partners - 1;
    if (partner == 0) {
        return size * columns + (size - 1 - at);
    }
    return at * columns + (at % 2 == 0 ? partner - 1 : columns - partner);
}

}  // namespace

MachineTorus logical_torus(const std::vector<std::vector<Rank>>& places) {
    std::array<std::map<Rank, Rank>, axes> order;
    std::size_t box = 1;
    for (std::size_t i = 0; i < axes; ++i) {
        order[i] = places_of_axis(places, i);
        if (order[i].empty()) {
            return {
                {}, {}, "its nodes leave a gap in the machine's " + std::string(1, axis_names[i])};
        }
        box *= order[i].size();
    }
    std::map<std::vector<Rank>, Rank> on_node;  // ranks so far
    std::vector<Rank> number;
    for (const std::vector<Rank>& place : places) {
        number.push_back(on_node[place]++);
    }
    const Rank per_node = static_cast<Rank>(places.size() / on_node.size());
    if (on_node.size() != box) {
        return {{},
                {},
                "its " + std::to_string(on_node.size()) + " nodes lie in a box of " +
                    std::to_string(box) + " of the machine's"};
    }
    if (std::any_of(on_node.begin(), on_node.end(),
                    [&](const auto& node) { return node.second != per_node; })) {
        return {{}, {}, "its nodes have different numbers of ranks"};
    }
    if (box == 1) {
        return {{}, {}, "its ranks share one node"};
    }
    MachineTorus torus;
    torus.coordinates.resize(places.size());
    const auto add_dimension = [&](Rank size, bool line, auto&& coordinate_of) {
        if (size > 1) {
            torus.lines.push_back(line);
            for (std::size_t r = 0; r < places.size(); ++r) {
                torus.coordinates[r].push_back(coordinate_of(r));
            }
        }
    };
    for (std::size_t i = 0; i < axes / 2; ++i) {
        const auto size = static_cast<Rank>(order[i].size());
        const auto partners = static_cast<Rank>(order[i + axes / 2].size());
        const Rank whole = size * partners;
        add_dimension(whole, whole == 2 || partners == 1, [&](std::size_t r) {
            return on_ring(order[i].at(places[r][i]), size,
                           order[i + axes / 2].at(places[r][i + axes / 2]), partners);
        });
    }
    add_dimension(per_node, false, [&](std::size_t r) { return number[r]; });
    return torus;
}

}  // namespace trefoil::utofu
