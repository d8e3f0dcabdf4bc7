// SPDX-License-Identifier: BSD-3-Clause
// Who is in a new communicator, and the numbers that communicators have.
#include "comm/derived/members.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_set>

#include "comm/derived/identity.hpp"
#include "topo/error.hpp"

namespace trefoil::test {
namespace {

using Ranks = std::vector<Rank>;

TEST(DerivedMembers, ASplitGoesByKeyThenByRank) {
    const std::vector<std::int32_t> colours{1, 0, 1, -1, 1, 0};
    const std::vector<std::int32_t> keys{5, 0, 5, 0, -5, 0};
    EXPECT_EQ(members_of_split(colours, keys, 0), (Ranks{4, 0, 2}));
    EXPECT_EQ(members_of_split(colours, keys, 4), (Ranks{4, 0, 2}));
    EXPECT_EQ(members_of_split(colours, keys, 5), (Ranks{1, 5}));
    EXPECT_EQ(members_of_split(colours, keys, 3), Ranks{});
}

TEST(DerivedMembers, ASubGoesByPlaceNotByRank) {
    const TorusMap map = make_torus_map({"test", "", {{1, 1}, {0, 0}, {1, 0}, {0, 1}}}, 4);
    EXPECT_EQ(members_of_sub(map, {false, true}, 0), (Ranks{2, 0}));
    EXPECT_EQ(members_of_sub(map, {true, false}, 0), (Ranks{3, 0}));
    EXPECT_EQ(members_of_sub(map, {true, true}, 0), (Ranks{1, 3, 2, 0}));
}

TEST(DerivedMembers, AGroupIsForItsMembers) {
    const std::vector<std::int32_t> list{3, 1};
    EXPECT_EQ(members_of_group(list, 4, 1), (Ranks{3, 1}));
    EXPECT_THROW(members_of_group(list, 4, 0), Error);
    EXPECT_THROW(members_of_group(list, 3, 1), Error);
    EXPECT_THROW(members_of_group({}, 3, 1), Error);
}

TEST(DerivedIdentity, RanksThatCallAlikeFindTheSame) {
    Identity a(42), b(42);
    const auto begin = [&] { EXPECT_EQ(a.begin_request(), b.begin_request()); };
    begin();
    const std::uint64_t first = a.dup().number();
    EXPECT_EQ(first, b.dup().number());
    begin();
    EXPECT_NE(a.dup().number(), first);
    EXPECT_EQ(a.split(7).number(), b.split(7).number());
    EXPECT_NE(a.split(7).number(), b.split(8).number());
    begin();
    Identity plane_a = a.sub(Ranks{0, 1}), plane_b = b.sub(Ranks{0, 1});
    EXPECT_EQ(plane_a.dup().number(), plane_b.dup().number());
}

// One rank's request fails where the other's succeeds, or they make different ones: both count it.
TEST(DerivedIdentity, WhatBecomesOfARequestChangesNoNumber) {
    Identity a(42), b(42);
    EXPECT_EQ(a.begin_request(), b.begin_request());
    (void)a.dup();
    EXPECT_EQ(a.begin_request(), b.begin_request());
    (void)a.split(0);
    (void)b.dup();
    EXPECT_EQ(a.begin_request(), b.begin_request());
    EXPECT_EQ(a.dup().number(), b.dup().number());
    EXPECT_EQ(a.split(3).number(), b.split(3).number());
}

/// Rank 0 is in both groups, rank 1 in one, and nobody tells anybody.
TEST(DerivedIdentity, GroupsCountForTheirMembersAlone) {
    Identity zero(42), one(42);
    const std::uint64_t others = zero.group(5, Ranks{0, 2}).number();
    const std::uint64_t first = zero.group(5, Ranks{0, 1}).number();
    EXPECT_EQ(one.group(5, Ranks{0, 1}).number(), first);
    EXPECT_NE(first, others);
    const std::uint64_t again = zero.group(5, Ranks{0, 1}).number();
    EXPECT_NE(again, first);
    EXPECT_EQ(one.group(5, Ranks{0, 1}).number(), again);
    EXPECT_NE(one.group(6, Ranks{0, 1}).number(), first);
    EXPECT_NE(one.group(5, Ranks{1, 0}).number(), first) << "the order is part of the list";
}

/// By ranks that are each in one of them: how often the same was made before tells none apart.
TEST(DerivedIdentity, GroupsDifferByEachMember) {
    std::unordered_set<std::uint64_t> numbers;
    constexpr Rank ranks = 40;
    for (Rank a = 0; a < ranks; ++a) {
        for (Rank b = 0; b < ranks; ++b) {
            numbers.insert(Identity(42).group(5, Ranks{a, b, ranks}).number());
            numbers.insert(Identity(42).shrunk(Ranks{a, b, ranks}).number());
        }
    }
    EXPECT_EQ(numbers.size(), std::size_t{2} * ranks * ranks);
}

TEST(DerivedIdentity, AMillionAreAllDifferent) {
    constexpr std::size_t many = 1'000'000;
    std::unordered_set<std::uint64_t> numbers;
    numbers.reserve(many);
    std::vector<Identity> parents{Identity(0)};
    numbers.insert(parents[0].number());
    const auto add = [&](Identity&& child) {
        numbers.insert(child.number());
        if (parents.size() < 5000) {
            parents.push_back(std::move(child));
        }
    };
    std::size_t made = 1;
    std::vector<Rank> members{0, 0};
    for (std::size_t p = 0; made < many; p = (p + 1) % parents.size()) {
        for (Rank i = 0; i < 8 && made < many; ++i, made += 4) {
            (void)parents[p].begin_request();
            add(parents[p].dup());
            add(parents[p].split(i));
            members = {i, i + 1};
            add(parents[p].sub(members));
            add(parents[p].group(i, members));
        }
    }
    EXPECT_EQ(numbers.size(), made);
    EXPECT_EQ(numbers.count(0), 0U);
}

}  // namespace
}  // namespace trefoil::test
