// SPDX-License-Identifier: BSD-3-Clause
// Boxes of nodes as tori: every place is taken once, and neighbours are one hop apart in the
// machine.
#include "backend/utofu/logical_torus.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace trefoil::utofu {
namespace {

using Places = std::vector<std::vector<Rank>>;

/// All nodes of a box that begins at `first`, on a machine as large as Fugaku.
Places box(const std::vector<Rank>& first, const std::vector<Rank>& sizes) {
    const Torus torus(sizes);
    const Rank machine[] = {24, 23, 24, 2, 3, 2};
    Places all;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        all.emplace_back();
        for (int j = 0; j < 6; ++j) {
            all.back().push_back((first[j] + torus.coordinate(r, j)) % machine[j]);
        }
    }
    return all;
}

/// Hops in the machine, where x, z and b go round.
Rank hops(const std::vector<Rank>& a, const std::vector<Rank>& b) {
    const Rank ring[] = {24, 0, 24, 0, 3, 0};
    Rank sum = 0;
    for (std::size_t j = 0; j < 6; ++j) {
        const Rank apart = std::abs(a[j] - b[j]);
        sum += ring[j] > 0 ? std::min(apart, ring[j] - apart) : apart;
    }
    return sum;
}

/// The torus as text; every neighbour is checked.
std::string torus_of(const Places& places) {
    const MachineTorus found = logical_torus(places);
    EXPECT_EQ(found.why_not, "");
    EXPECT_EQ(found.coordinates.size(), places.size());
    std::vector<Rank> sizes(found.lines.size(), 1);
    for (const std::vector<Rank>& each : found.coordinates) {
        for (std::size_t j = 0; j < sizes.size(); ++j) {
            sizes[j] = std::max(sizes[j], each[j] + 1);
        }
    }
    const Torus torus(sizes, found.lines);
    std::vector<const std::vector<Rank>*> at(static_cast<std::size_t>(torus.ranks()));
    EXPECT_EQ(at.size(), places.size());
    for (std::size_t r = 0; r < places.size() && at.size() == places.size(); ++r) {
        auto& place = at[static_cast<std::size_t>(torus.rank(found.coordinates[r]))];
        EXPECT_EQ(place, nullptr);
        place = &places[r];
    }
    for (Rank r = 0; r < torus.ranks(); ++r) {
        for (int j = 0; j < torus.dimensions(); ++j) {
            const bool last = torus.coordinate(r, j) + 1 == torus.size(j);
            if (!last || !torus.is_line(j)) {
                const Rank next = torus.neighbour(r, Port::plus(j));
                EXPECT_LE(
                    hops(*at[static_cast<std::size_t>(r)], *at[static_cast<std::size_t>(next)]), 1)
                    << torus.name() << " " << r << " and " << next;
            }
        }
    }
    return torus.name();
}

TEST(LogicalTorus, IsMadeOfRingsThroughPairsOfAxes) {
    const std::vector<Rank> origin{0, 0, 0, 0, 0, 0};
    EXPECT_EQ(torus_of(box(origin, {1, 1, 1, 2, 3, 2})), "2mx3x2m");
    EXPECT_EQ(torus_of(box(origin, {4, 1, 1, 2, 1, 1})), "8");
    EXPECT_EQ(torus_of(box(origin, {2, 2, 2, 2, 3, 2})), "4x6x4");
    EXPECT_EQ(torus_of(box(origin, {3, 3, 1, 2, 3, 2})), "6x9x2m");
    EXPECT_EQ(torus_of(box(origin, {5, 4, 3, 2, 3, 2})), "10x12x6");
}

TEST(LogicalTorus, HasLinesWhereNothingClosesARing) {
    const std::vector<Rank> origin{0, 0, 0, 0, 0, 0};
    EXPECT_EQ(torus_of(box(origin, {5, 1, 1, 1, 1, 1})), "5m");
    EXPECT_EQ(torus_of(box(origin, {3, 4, 1, 1, 1, 1})), "3mx4m");
    EXPECT_EQ(torus_of(box(origin, {1, 3, 1, 2, 2, 1})), "2mx6");
}

TEST(LogicalTorus, MayLieAcrossTheEndOfTheMachine) {
    EXPECT_EQ(torus_of(box({22, 21, 5, 0, 1, 0}, {4, 2, 1, 2, 3, 1})), "8x6");
    EXPECT_EQ(torus_of(box({22, 0, 0, 1, 1, 1}, {4, 1, 1, 1, 1, 1})), "4m");
    EXPECT_EQ(torus_of(box({0, 0, 23, 1, 1, 1}, {1, 1, 2, 1, 1, 2})), "4");
    EXPECT_EQ(torus_of(box({0, 0, 0, 0, 2, 0}, {1, 3, 1, 1, 2, 1})), "6");
}

TEST(LogicalTorus, HasADimensionOfTheRanksOfANode) {
    Places places;
    for (const std::vector<Rank>& node : box({0, 0, 0, 0, 0, 0}, {2, 1, 1, 2, 3, 1})) {
        places.insert(places.end(), 4, node);
    }
    EXPECT_EQ(torus_of(places), "4x3x4");
    places.pop_back();
    EXPECT_EQ(logical_torus(places).why_not, "its nodes have different numbers of ranks");
}

TEST(LogicalTorus, IsNoneOfABoxWithHoles) {
    Places places = box({0, 0, 0, 0, 0, 0}, {2, 1, 1, 2, 3, 1});
    places.pop_back();
    EXPECT_TRUE(logical_torus(places).coordinates.empty());
    EXPECT_EQ(logical_torus(places).why_not, "its 11 nodes lie in a box of 12 of the machine's");
    EXPECT_EQ(logical_torus({places[0], places[0]}).why_not, "its ranks share one node");
}

/// The nodes that have these values of one axis, and 0 of all others.
Places on_axis(std::size_t axis, const std::vector<Rank>& values) {
    Places all;
    for (const Rank value : values) {
        all.emplace_back(6, 0);
        all.back()[axis] = value;
    }
    return all;
}

// Neighbours in the torus would be far apart.
TEST(LogicalTorus, IsNoneWhereTheNodesLeaveAGap) {
    const std::string gap = "its nodes leave a gap in the machine's ";
    EXPECT_EQ(logical_torus(on_axis(0, {0, 5})).why_not, gap + "x");
    EXPECT_EQ(logical_torus(on_axis(0, {3, 4, 6})).why_not, gap + "x");
    EXPECT_EQ(logical_torus(on_axis(0, {0, 3, 23})).why_not, gap + "x");
    EXPECT_EQ(logical_torus(on_axis(0, {1, 23})).why_not, gap + "x");
    EXPECT_EQ(logical_torus(on_axis(1, {0, 22})).why_not, gap + "y");
    EXPECT_EQ(logical_torus(on_axis(2, {7, 9})).why_not, gap + "z");
    EXPECT_EQ(torus_of(on_axis(0, {0, 23})), "2m");
    EXPECT_EQ(torus_of(on_axis(4, {0, 2})), "2m");
}

}  // namespace
}  // namespace trefoil::utofu
