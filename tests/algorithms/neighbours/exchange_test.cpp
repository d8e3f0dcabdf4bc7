// SPDX-License-Identifier: BSD-3-Clause
// Exchanges with neighbours: one step, one message through each port, and what the verifier says
// when two of them are exchanged.
#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/analysis/verify.hpp"
#include "algorithms/registry/registry.hpp"

namespace trefoil {
namespace {

constexpr Collective exchanges[] = {Collective::neighbor_allgather, Collective::neighbor_alltoall};

std::vector<Schedule> schedules(const Torus& torus, Collective collective) {
    std::vector<Schedule> all;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        all.push_back(find_algorithm(collective, "direct").build(torus, r));
    }
    return all;
}

TEST(NeighbourExchange, TakesOneStepAndEachPortOnce) {
    for (const Collective collective : exchanges) {
        const CostSummary cost = summarize(Torus({3, 4, 2}), find_algorithm(collective, "direct"));
        EXPECT_EQ(cost.steps, 1);
        EXPECT_EQ(cost.sum_hops, 1);
        EXPECT_EQ(cost.messages_per_rank, 6);
        EXPECT_EQ(cost.max_sends_per_port_per_step, 1);
        EXPECT_DOUBLE_EQ(cost.bytes_sent_max, 1);
        EXPECT_DOUBLE_EQ(cost.sum_link_load, 1.0 / 6);
        EXPECT_EQ(cost.acknowledgements_max, 6);
    }
}

/// The two messages of a dimension of size 2, or of any other.
TEST(NeighbourExchange, IsRefusedWhenTwoBlocksAreExchanged) {
    for (const char* shape : {"2", "3", "2x3"}) {
        const Torus torus = Torus::parse(shape);
        const Goal goal{Collective::neighbor_alltoall, 0, {}};
        const std::vector<Schedule> right = schedules(torus, goal.collective);
        ASSERT_TRUE(verify(torus, goal, right).ok());
        std::vector<Schedule> wrong = right;
        std::swap(wrong[1].sends[0].extents, wrong[1].sends[1].extents);
        EXPECT_FALSE(verify(torus, goal, wrong).ok()) << shape << ": sent";
        wrong = right;
        std::swap(wrong[1].applications[0].extents, wrong[1].applications[1].extents);
        EXPECT_FALSE(verify(torus, goal, wrong).ok()) << shape << ": received";
    }
}

TEST(NeighbourExchange, IsRefusedWhenARankForgetsThatItIsItsOwnNeighbour) {
    const Torus torus({3, 1});
    for (const Collective collective : exchanges) {
        std::vector<Schedule> wrong = schedules(torus, collective);
        ASSERT_TRUE(verify(torus, {collective, 0, {}}, wrong).ok());
        ASSERT_EQ(wrong[2].moves.size(), 2U);
        wrong[2].steps[0].moves.count = 1;
        const Verification found = verify(torus, {collective, 0, {}}, wrong);
        ASSERT_FALSE(found.ok());
        EXPECT_NE(found.errors[0].find("is not what rank 2 had for this rank"), std::string::npos)
            << found.errors[0];
    }
}

TEST(NeighbourExchange, IsRefusedWithAnotherNumberOfBlocks) {
    const Torus torus({3, 3});
    std::vector<Schedule> wrong = schedules(torus, Collective::neighbor_alltoall);
    for (Schedule& s : wrong) {
        s.parts[0].vector_blocks += 2;
    }
    EXPECT_FALSE(verify(torus, {Collective::neighbor_alltoall, 0, {}}, wrong).ok());
}

}  // namespace
}  // namespace trefoil
