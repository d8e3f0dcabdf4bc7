// SPDX-License-Identifier: BSD-3-Clause
// Ranks on NUMA nodes: who gets which cores, on made-up machines.
#include "topo/rank_cores.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace trefoil {
namespace {

using Cores = std::vector<int>;
using Shares = std::vector<Cores>;

/// `nodes` NUMA nodes with `each` cores, numbered one after the other.
std::vector<NumaNode> machine(int nodes, int each) {
    std::vector<NumaNode> list;
    for (int i = 0; i < nodes; ++i) {
        Cores cores(static_cast<std::size_t>(each));
        std::iota(cores.begin(), cores.end(), i * each);
        list.push_back({i, cores});
    }
    return list;
}

Cores all(int cores) {
    Cores list(static_cast<std::size_t>(cores));
    std::iota(list.begin(), list.end(), 0);
    return list;
}

TEST(RankCores, ARankForEachNumaNodeHasItsCores) {
    EXPECT_EQ(cores_by_rank(machine(2, 2), all(4), 2), (Shares{{0, 1}, {2, 3}}));
    EXPECT_EQ(cores_by_rank(machine(2, 2), all(4), 4), (Shares{{0, 1}, {0, 1}, {2, 3}, {2, 3}}));
}

TEST(RankCores, FewerRanksThanNumaNodesHaveSeveral) {
    EXPECT_EQ(cores_by_rank(machine(4, 2), all(8), 2), (Shares{{0, 1, 2, 3}, {4, 5, 6, 7}}));
    EXPECT_EQ(cores_by_rank(machine(3, 2), all(6), 2), (Shares{{0, 1, 2, 3}, {2, 3, 4, 5}}));
}

TEST(RankCores, UnequalSharesOfCoresGetUnequalRanks) {
    // Three cores of the first NUMA node and one of the second: three ranks and one.
    EXPECT_EQ(cores_by_rank(machine(2, 4), {1, 2, 3, 4}, 4),
              (Shares{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {4}}));
    EXPECT_EQ(cores_by_rank({{0, {0, 2}}, {1, {1, 3}}}, all(4), 2), (Shares{{0, 2}, {1, 3}}));
}

TEST(RankCores, NothingIsDecidedWhereThereIsNoChoice) {
    EXPECT_TRUE(cores_by_rank(machine(2, 2), all(4), 1).empty());
    EXPECT_TRUE(cores_by_rank(machine(1, 4), all(4), 4).empty());
    EXPECT_TRUE(cores_by_rank(machine(2, 2), {2, 3}, 4).empty()) << "bound by someone else";
    EXPECT_TRUE(cores_by_rank({}, all(4), 4).empty()) << "no hwloc";
}

TEST(RankCores, EveryRankHasCoresAndEveryNumaNodeRanks) {
    for (int nodes = 2; nodes <= 5; ++nodes) {
        for (int each = 1; each <= 4; ++each) {
            for (int ranks = 2; ranks <= 17; ++ranks) {
                const Shares shares = cores_by_rank(machine(nodes, each), all(nodes * each), ranks);
                ASSERT_EQ(shares.size(), static_cast<std::size_t>(ranks));
                Cores used;
                for (const Cores& share : shares) {
                    EXPECT_FALSE(share.empty());
                    EXPECT_TRUE(used.empty() || share.front() >= used.front()) << "in order";
                    used = share;
                }
                EXPECT_EQ(shares.front().front(), 0);
                EXPECT_EQ(shares.back().back(), nodes * each - 1);
            }
        }
    }
}

}  // namespace
}  // namespace trefoil
