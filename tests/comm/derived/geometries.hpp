// SPDX-License-Identifier: BSD-3-Clause
// First communicators to derive others from, and what holds for all that are derived.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "comm/derived/geometry.hpp"

namespace trefoil::test {

inline Geometry row_by_row(const std::string& torus) {
    return first_geometry(make_torus_map({"test", torus, {}}, Torus::parse(torus).ranks()));
}

/// Ranks anywhere.
template <typename Random>
Geometry shuffled(const std::string& torus, Random& random) {
    TorusMap map = make_torus_map({"test", torus, {}}, Torus::parse(torus).ranks());
    std::shuffle(map.rank_at.begin(), map.rank_at.end(), random);
    for (Rank p = 0; p < map.torus.ranks(); ++p) {
        map.position_of[map.rank_at[p]] = p;
    }
    return first_geometry(map);
}

inline Rank first_position(const Geometry& first, const Geometry& child, Rank position) {
    return first.map.position_of[child.first_rank[child.map.rank_at[position]]];
}

/// Every rank has a place of its own, and every dimension ports of its own.
inline void expect_sound(const Geometry& first, const Geometry& child,
                         const std::vector<Rank>& members) {
    ASSERT_EQ(child.first_rank, members);
    ASSERT_EQ(static_cast<std::size_t>(child.map.torus.ranks()), members.size());
    ASSERT_EQ(child.map.position_of.size(), members.size());
    ASSERT_EQ(child.map.rank_at.size(), members.size());
    for (std::size_t r = 0; r < members.size(); ++r) {
        ASSERT_EQ(child.map.rank_at[child.map.position_of[r]], static_cast<Rank>(r));
    }
    const auto dimensions = static_cast<std::size_t>(child.map.torus.dimensions());
    ASSERT_LE(child.map.torus.dimensions(), first.map.torus.dimensions());
    ASSERT_EQ(child.port_dimension.size(), dimensions);
    ASSERT_EQ(child.wraps.size(), dimensions);
    ASSERT_EQ(child.stride.size(), dimensions);
    for (std::size_t i = 0; i < dimensions; ++i) {
        ASSERT_NE(child.map.torus.is_line(static_cast<int>(i)), child.wraps[i]);
    }
    std::vector<int> ports = child.port_dimension;
    std::sort(ports.begin(), ports.end());
    ASSERT_TRUE(std::adjacent_find(ports.begin(), ports.end()) == ports.end());
    ASSERT_TRUE(ports.front() >= 0 && ports.back() < first.map.torus.dimensions());
    ASSERT_FALSE(child.map.source.empty());
}

}  // namespace trefoil::test
