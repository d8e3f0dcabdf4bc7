// SPDX-License-Identifier: BSD-3-Clause
// Finding the box of the first torus that the members of a communicator form.
#include "comm/derived/geometry.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "comm/derived/logical_shape.hpp"
#include "comm/derived/members.hpp"
#include "comm/derived/spacing.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

std::vector<Rank> counted_up(Rank size) {
    std::vector<Rank> ranks(static_cast<std::size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

/// Rings to lines, and lines to rings.
std::vector<bool> flipped(std::vector<bool> dimensions) {
    dimensions.flip();
    return dimensions;
}

/// By dimension of the first torus, the places that the members take.
std::vector<Spacing> spacings_of(const Geometry& first, const std::vector<Rank>& positions) {
    const Torus& torus = first.map.torus;
    std::vector<Spacing> spacings;
    for (int j = 0; j < torus.dimensions(); ++j) {
        std::vector<bool> taken(static_cast<std::size_t>(torus.size(j)));
        for (const Rank position : positions) {
            taken[torus.coordinate(position, j)] = true;
        }
        std::vector<Rank> places;
        for (Rank c = 0; c < torus.size(j); ++c) {
            if (taken[c]) {
                places.push_back(c);
            }
        }
        spacings.push_back(spacing_of(std::move(places), torus.size(j), first.wraps[j]));
    }
    return spacings;
}

/// Every place of every combination is taken: members are all different, so it is enough to count.
bool are_a_grid(const std::vector<Spacing>& spacings, std::size_t members) {
    std::size_t places = 1;
    for (const Spacing& spacing : spacings) {
        places *= spacing.places.size();
        if (places > members) {
            return false;
        }
    }
    return places == members;
}

/// "3x3 of the 3x3x4 torus: dimension 0 whole, dimension 1 whole, dimension 2 at 1".
std::string grid_text(const Torus& torus, const std::vector<Spacing>& spacings, bool box) {
    std::string text = box ? "of the " + torus.name() + " torus"
                           : "logical: the members are not a box of the " + torus.name() + " torus";
    for (int j = 0; j < torus.dimensions(); ++j) {
        text += (j == 0 ? ": dimension " : "; dimension ") + std::to_string(j) + " " +
                to_string(spacings[j], torus.size(j));
    }
    return text;
}

/// The dimensions along which members differ; one if there is no such.
std::vector<int> long_ones(const std::vector<Spacing>& spacings) {
    std::vector<int> dimensions;
    for (std::size_t j = 0; j < spacings.size(); ++j) {
        if (spacings[j].places.size() > 1) {
            dimensions.push_back(static_cast<int>(j));
        }
    }
    return dimensions.empty() ? std::vector<int>{0} : dimensions;
}

Geometry grid(const Geometry& first, const std::vector<Rank>& members,
              const std::vector<Rank>& positions, const std::vector<Spacing>& spacings) {
    const Torus& torus = first.map.torus;
    Geometry geometry;
    geometry.first_rank = members;
    geometry.port_dimension = long_ones(spacings);
    std::vector<Rank> sizes;
    std::vector<std::vector<Rank>> index_of;  // by own dimension, then by place of the first torus
    for (const int j : geometry.port_dimension) {
        const Spacing& spacing = spacings[j];
        sizes.push_back(static_cast<Rank>(spacing.places.size()));
        index_of.emplace_back(static_cast<std::size_t>(torus.size(j)));
        for (Rank i = 0; i < sizes.back(); ++i) {
            index_of.back()[spacing.places[i]] = i;
        }
        geometry.wraps.push_back(spacing.wraps);
        geometry.stride.push_back(spacing.stride);
        geometry.box = geometry.box && spacing.even();
    }
    geometry.map.torus = Torus(sizes, flipped(geometry.wraps));
    if (torus.is_host(geometry.port_dimension.back())) {
        geometry.map.torus = geometry.map.torus.with_host_dimension();
    }
    geometry.map.source = grid_text(torus, spacings, geometry.box);
    geometry.map.position_of.resize(members.size());
    geometry.map.rank_at.resize(members.size());
    for (std::size_t r = 0; r < members.size(); ++r) {
        Rank position = 0;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const Rank place = torus.coordinate(positions[r], geometry.port_dimension[i]);
            position = position * sizes[i] + index_of[i][place];
        }
        geometry.map.position_of[r] = position;
        geometry.map.rank_at[position] = static_cast<Rank>(r);
    }
    return geometry;
}

/// A damaged or twisted torus stays what it is when all its ranks come in another order.
Geometry reordered(const Geometry& first, const std::vector<Rank>& members) {
    Geometry geometry = first;
    geometry.first_rank = members;
    for (std::size_t r = 0; r < members.size(); ++r) {
        const Rank position = first.map.position_of[members[r]];
        geometry.map.position_of[r] = position;
        geometry.map.rank_at[position] = static_cast<Rank>(r);
    }
    return geometry;
}

/// Links between two places of a dimension that is a ring or a line.
Rank distance(const Torus& torus, Rank from, Rank to, int dimension, bool ring) {
    const Rank straight =
        std::abs(torus.coordinate(from, dimension) - torus.coordinate(to, dimension));
    return ring ? std::min(straight, torus.size(dimension) - straight) : straight;
}

}  // namespace

void Geometry::use_ports(Schedule& schedule) const {
    for (Send& send : schedule.sends) {
        send.port = port_of(send.port);
    }
    for (Receive& receive : schedule.receives) {
        receive.port = port_of(receive.port);
    }
}

Geometry first_geometry(const TorusMap& map) {
    const auto dimensions = static_cast<std::size_t>(map.torus.dimensions());
    Geometry geometry;
    geometry.map = map;
    geometry.first_rank = counted_up(map.torus.ranks());
    geometry.port_dimension = counted_up(map.torus.dimensions());
    for (int j = 0; j < map.torus.dimensions(); ++j) {
        geometry.wraps.push_back(!map.torus.is_line(j));
    }
    geometry.stride.assign(dimensions, 1);
    return geometry;
}

Geometry geometry_of(const Geometry& first, const std::vector<Rank>& members) {
    require_members(members, first.map.torus.ranks());
    if (members == first.first_rank) {
        return first;
    }
    if (first.map.torus.fabric() != nullptr && members.size() == first.first_rank.size()) {
        return reordered(first, members);
    }
    std::vector<Rank> positions;
    for (const Rank member : members) {
        positions.push_back(first.map.position_of[member]);
    }
    const std::vector<Spacing> spacings = spacings_of(first, positions);
    return are_a_grid(spacings, members.size()) ? grid(first, members, positions, spacings)
                                                : logical_shape(first, members, spacings);
}

Geometry sub_geometry(const Geometry& first, const Geometry& parent, const std::vector<bool>& keep,
                      Rank me) {
    Geometry geometry;
    const std::vector<Rank> members = members_of_sub(parent.map, keep, me);
    if (members.size() == parent.first_rank.size()) {
        return parent;
    }
    for (const Rank member : members) {
        geometry.first_rank.push_back(parent.first_rank[member]);
    }
    if (parent.box || members.size() == 1) {
        return geometry_of(first, geometry.first_rank);
    }
    const Torus& torus = parent.map.torus;
    std::vector<Rank> sizes;
    std::string kept;
    for (int j = 0; j < torus.dimensions(); ++j) {
        if (keep[j]) {
            kept += (kept.empty() ? " " : ", ") + std::to_string(j);
            sizes.push_back(torus.size(j));
            geometry.port_dimension.push_back(parent.port_dimension[j]);
            geometry.wraps.push_back(parent.wraps[j]);
            geometry.stride.push_back(parent.stride[j]);
        }
    }
    geometry.box = false;
    geometry.map.torus = Torus(sizes, flipped(geometry.wraps));
    geometry.map.source = std::string(sizes.size() > 1 ? "dimensions" : "dimension") + kept +
                          " of a logical " + torus.name();
    geometry.map.position_of = counted_up(static_cast<Rank>(members.size()));
    geometry.map.rank_at = geometry.map.position_of;
    return geometry;
}

std::int64_t neighbour_hops(const Geometry& first, const Geometry& geometry) {
    const Torus& torus = first.map.torus;
    const Torus& own = geometry.map.torus;
    const auto first_position = [&](Rank position) {
        const Rank rank = geometry.map.rank_at[position];
        const Rank first_rank = geometry.first_rank[rank];
        return first.map.position_of[first_rank];
    };
    std::int64_t hops = 0;
    for (Rank position = 0; position < own.ranks(); ++position) {
        const Rank from = first_position(position);
        for (int i = 0; i < own.dimensions(); ++i) {
            const Rank to = first_position(own.neighbour(position, Port::plus(i)));
            for (int j = 0; j < torus.dimensions(); ++j) {
                hops += distance(torus, from, to, j, first.wraps[j]);
            }
        }
    }
    return hops;
}

}  // namespace trefoil
