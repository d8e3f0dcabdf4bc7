// SPDX-License-Identifier: BSD-3-Clause
// Members that form no box: the shape is the most cubic one, and neighbours are near.
#include "comm/derived/logical_shape.hpp"

#include <numeric>
#include <random>

#include "tests/comm/derived/geometries.hpp"

namespace trefoil::test {
namespace {

TEST(LogicalShape, AnLOfSixIsALogicalTwoByThree) {
    const Geometry first = row_by_row("3x3");
    const std::vector<Rank> members{0, 3, 6, 7, 8, 5};
    const Geometry child = geometry_of(first, members);
    ASSERT_NO_FATAL_FAILURE(expect_sound(first, child, members));
    EXPECT_FALSE(child.box);
    EXPECT_TRUE(child.map.torus.name() == "3x2" || child.map.torus.name() == "2x3");
    EXPECT_EQ(
        child.map.source.find("logical: the members are not a box of the 3x3 torus; neighbours "
                              "are 1."),
        0U)
        << child.map.source;
}

TEST(LogicalShape, APrimeIsARing) {
    const Geometry first = row_by_row("4x4x4");
    for (const Rank prime : {2, 3, 5, 7, 11, 13, 61}) {
        std::vector<Rank> members(static_cast<std::size_t>(prime));
        for (Rank r = 0; r < prime; ++r) {
            members[r] = r * 37 % 64;
        }
        const Geometry child = geometry_of(first, members);
        ASSERT_NO_FATAL_FAILURE(expect_sound(first, child, members));
        EXPECT_EQ(child.map.torus.name(), std::to_string(prime));
    }
}

TEST(LogicalShape, APlaneWithoutOneRankDoesNotUseTheThirdDimension) {
    const Geometry first = row_by_row("4x5x5");
    std::vector<Rank> members(24);
    std::iota(members.begin(), members.end(), 25);
    const Geometry child = geometry_of(first, members);
    EXPECT_EQ(child.map.torus.dimensions(), 2);
    for (const int port : child.port_dimension) {
        EXPECT_NE(port, 0) << "no member lies along it";
    }
}

TEST(LogicalShape, RandomMembersAreNearerThanInTheirOwnOrder) {
    std::minstd_rand random(3);
    std::int64_t own_order = 0, chosen = 0;
    for (const char* name : {"3x3", "2x3x4", "4x4x4", "2x2x2x2", "8x8"}) {
        for (int round = 0; round < 200; ++round) {
            const Geometry first = shuffled(name, random);
            std::vector<Rank> members = first.first_rank;
            std::shuffle(members.begin(), members.end(), random);
            members.resize(1 + random() % members.size());
            const Geometry child = geometry_of(first, members);
            ASSERT_NO_FATAL_FAILURE(expect_sound(first, child, members));
            if (child.map.source.find("hops apart") == std::string::npos) {
                continue;  // a grid
            }
            ASSERT_FALSE(child.box);
            Geometry naive = child;
            naive.map.position_of.resize(members.size());
            std::iota(naive.map.position_of.begin(), naive.map.position_of.end(), 0);
            naive.map.rank_at = naive.map.position_of;
            const std::int64_t hops = neighbour_hops(first, child);
            if (std::is_sorted(child.map.torus.sizes().rbegin(), child.map.torus.sizes().rend())) {
                ASSERT_LE(hops, neighbour_hops(first, naive)) << child.map.source;
            }
            own_order += neighbour_hops(first, naive);
            chosen += hops;
        }
    }
    RecordProperty("hops_in_own_order", std::to_string(own_order));
    RecordProperty("hops_chosen", std::to_string(chosen));
    EXPECT_LT(static_cast<double>(chosen), 0.8 * static_cast<double>(own_order));
}

TEST(LogicalShape, NearlyAllOfALargeTorusIsFoundAtOnceAndNear) {
    const Geometry first = row_by_row("16x16x17");
    std::vector<Rank> members(4096);
    std::iota(members.begin(), members.end(), 100);
    const Geometry child = geometry_of(first, members);
    ASSERT_NO_FATAL_FAILURE(expect_sound(first, child, members));
    EXPECT_EQ(child.map.torus.name(), "16x16x16");
    EXPECT_LT(neighbour_hops(first, child), 3 * 4096 * 2);
}

TEST(LogicalShape, AllRanksFindTheSame) {
    const Geometry first = row_by_row("4x4x4");
    const std::vector<Rank> members{1, 60, 7, 22, 9, 14, 33, 2, 50, 41};
    const Geometry a = geometry_of(first, members);
    const Geometry b = geometry_of(first, members);
    EXPECT_EQ(a.map.position_of, b.map.position_of);
    EXPECT_EQ(a.port_dimension, b.port_dimension);
    EXPECT_EQ(a.map.source, b.map.source);
}

}  // namespace
}  // namespace trefoil::test
