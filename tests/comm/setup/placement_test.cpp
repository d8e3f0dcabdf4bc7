// SPDX-License-Identifier: BSD-3-Clause
// Port threads: how many, on which cores, near which NICs; on made-up machines.
#include "comm/setup/placement.hpp"

#include <gtest/gtest.h>

#include <set>

#include "topo/error.hpp"

namespace trefoil::placement_test {
namespace {

using Cores = std::vector<int>;

const Cores everywhere{0, 1, 2, 3, 4, 5, 6, 7};
const Cores first_socket{0, 1, 2, 3};
const Cores second_socket{4, 5, 6, 7};

LocalRank rank_of(Cores mask, std::vector<Cores> near) {
    return {std::move(mask), std::move(near), true, {}};
}

std::string refusal(const std::vector<LocalRank>& ranks, int self) {
    try {
        place_threads(ranks, self);
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::invalid_argument);
        return error.what();
    }
    return "";
}

TEST(PortGroups, AsManyThreadsAsCoresAreFree) {
    const Torus torus({3, 3});
    const auto threads = [&](std::vector<Cores> masks, int self, Settings settings = {}) {
        return group_ports(torus, settings, masks, self).threads;
    };
    EXPECT_EQ(threads({everywhere}, 0), 4) << "no more than ports";
    EXPECT_EQ(threads({{0, 1, 2}}, 0), 3);
    EXPECT_EQ(threads({everywhere, everywhere, everywhere}, 1), 2);
    EXPECT_EQ(threads(std::vector<Cores>(8, everywhere), 0), 0) << "a single core is the caller's";
    EXPECT_EQ(threads({first_socket, second_socket}, 0), 4) << "bound ranks share nothing";
    EXPECT_EQ(threads({{0}, {1}}, 1), 0);
    Settings asked;
    asked.port_threads = 1;
    EXPECT_EQ(threads({{0}}, 0, asked), 1);
    Settings listed;
    listed.pin_cores = {5, 3};
    EXPECT_EQ(threads({everywhere}, 0, listed), 2) << "the list is what there is";
}

TEST(PortGroups, PortsThatLeadNowhereAreNotDriven) {
    const Torus torus({3, 1, 2});
    EXPECT_EQ(used_ports(torus), (std::vector<Port>{{0}, {1}, {4}, {5}}));
    const PortGroups groups = group_ports(torus, {}, {{0, 1, 2}}, 0);
    ASSERT_EQ(groups.groups.size(), 3U);
    EXPECT_EQ(groups.groups[0], (std::vector<Port>{{0}, {5}}));
    EXPECT_EQ(group_ports(torus, {}, {{0}}, 0).groups.size(), 1U);
}

TEST(Placement, ThreadsAreNearTheirNics) {
    const Placement p =
        place_threads({rank_of(everywhere, {second_socket, first_socket, second_socket, {}})}, 0);
    EXPECT_EQ(p.cores, (Cores{4, 0, 5, 1}));
    EXPECT_TRUE(p.may_spin);
    EXPECT_EQ(p.oversubscription, "");
}

TEST(Placement, NeverOutsideTheMask) {
    const Placement p = place_threads({rank_of({2, 6}, {first_socket, first_socket})}, 0);
    EXPECT_EQ(p.cores, (Cores{2, 6}));
    const Placement far = place_threads({rank_of({1}, {second_socket})}, 0);
    EXPECT_EQ(far.cores, (Cores{1}));
}

TEST(Placement, RanksOfAHostTakeDistinctCoresWhileThereAreAny) {
    const std::vector<LocalRank> ranks(4, rank_of(everywhere, {first_socket, second_socket}));
    std::set<int> used;
    for (int self = 0; self < 4; ++self) {
        const Placement p = place_threads(ranks, self);
        EXPECT_TRUE(p.may_spin);
        ASSERT_EQ(p.cores.size(), 2U);
        EXPECT_LT(p.cores[0], 4);
        EXPECT_GE(p.cores[1], 4);
        used.insert(p.cores.begin(), p.cores.end());
    }
    EXPECT_EQ(used.size(), 8U);
}

TEST(Placement, ADistinctCoreGoesBeforeANearOne) {
    const std::vector<LocalRank> ranks(1, rank_of(everywhere, std::vector<Cores>(6, first_socket)));
    EXPECT_EQ(place_threads(ranks, 0).cores, (Cores{0, 1, 2, 3, 4, 5}));
}

TEST(Placement, MoreThreadsThanCoresAreSpreadEvenlyAndSaid) {
    const std::vector<LocalRank> ranks(3, rank_of({0, 1}, {{}, {}}));
    for (int self = 0; self < 3; ++self) {
        const Placement p = place_threads(ranks, self);
        EXPECT_EQ(p.cores, (Cores{0, 1}));
        EXPECT_FALSE(p.may_spin);
        EXPECT_EQ(p.oversubscription,
                  "6 threads drive the ports of 3 ranks on this host, which may use 2 cores");
    }
}

TEST(Placement, ARankWithoutThreadsCountsAsItsCaller) {
    std::vector<LocalRank> ranks(2, rank_of({0, 1}, {}));
    EXPECT_TRUE(place_threads(ranks, 0).cores.empty());
    EXPECT_TRUE(place_threads(ranks, 0).may_spin);
    ranks.push_back(rank_of({0, 1}, {}));
    EXPECT_FALSE(place_threads(ranks, 0).may_spin);
    EXPECT_NE(place_threads(ranks, 0).oversubscription, "");
}

TEST(Placement, BoundRanksMayNotSpinWhereTheirOwnCoresAreTooFew) {
    const std::vector<LocalRank> ranks{rank_of({0}, {{}, {}}), rank_of({1, 2, 3}, {})};
    EXPECT_FALSE(place_threads(ranks, 0).may_spin);
    EXPECT_EQ(place_threads(ranks, 0).oversubscription, "") << "the host has cores enough";
}

TEST(Pinning, NoneLeavesThreadsFree) {
    LocalRank free = rank_of(everywhere, {{}, {}});
    free.pin = false;
    EXPECT_TRUE(place_threads({free}, 0).cores.empty());
    EXPECT_TRUE(place_threads({free}, 0).may_spin);
}

TEST(Pinning, AListIsDividedAmongTheRanksOfTheHost) {
    LocalRank listed = rank_of(everywhere, {{}, {}});
    listed.list = {7, 0, 2, 5};
    const std::vector<LocalRank> ranks(2, listed);
    EXPECT_EQ(place_threads(ranks, 0).cores, (Cores{7, 0}));
    EXPECT_EQ(place_threads(ranks, 1).cores, (Cores{2, 5}));
    EXPECT_EQ(place_threads({listed}, 0).cores, (Cores{7, 0}));
    listed.list = {3};
    EXPECT_EQ(place_threads({listed, listed}, 1).cores, (Cores{3, 3}));
}

TEST(Pinning, WithoutAListOthersKeepAwayFromListedCores) {
    LocalRank listed = rank_of({0, 1, 2}, {{}});
    listed.list = {0};
    EXPECT_EQ(place_threads({rank_of({0, 1, 2}, {{}}), listed}, 0).cores, (Cores{1}));
}

TEST(Pinning, ACoreThatMayNotBeUsedIsRefusedByNumber) {
    LocalRank listed = rank_of({0, 1}, {{}});
    listed.list = {0, 99};
    EXPECT_NE(refusal({listed}, 0).find("core 99"), std::string::npos);
    EXPECT_NE(refusal({listed}, 0).find("(0-1)"), std::string::npos);
    listed.near.clear();
    EXPECT_NE(refusal({listed}, 0), "") << "also where no thread would use it";

    LocalRank bound = rank_of(first_socket, {{}});
    LocalRank other = rank_of(second_socket, {{}});
    bound.list = other.list = {0, 4};
    EXPECT_EQ(place_threads({bound, other}, 1).cores, (Cores{4}));
    bound.list = other.list = {4, 0};
    EXPECT_NE(refusal({bound, other}, 0).find("core 4 is not among the cores this rank"),
              std::string::npos);
}

TEST(Placement, NobodySpinsWithoutTime) {
    const auto placed = [](double cores, bool one_group) {
        LocalRank rank = rank_of(everywhere, {{}});
        rank.quotas = {{1, 2, cores}};
        std::vector<LocalRank> ranks(3, rank);
        ranks[0].quotas[0].inode += one_group ? 0 : 1;
        return place_threads(ranks, 0);
    };
    EXPECT_TRUE(placed(3, true).may_spin);
    EXPECT_FALSE(placed(2.5, true).may_spin);
    EXPECT_TRUE(placed(2, false).may_spin);
    EXPECT_FALSE(placed(1, false).may_spin) << "nor the rank that has time: others wait for it";
    EXPECT_NE(placed(2.5, true).oversubscription.find("2.5 cores"), std::string::npos)
        << placed(2.5, true).oversubscription;
    EXPECT_EQ(group_ports(Torus({3, 3}), {}, {everywhere}, 0, 2.5).threads, 2);
    EXPECT_EQ(group_ports(Torus({3, 3}), {}, {everywhere}, 0, 1.5).threads, 0);
}

}  // namespace
}  // namespace trefoil::placement_test
