// SPDX-License-Identifier: BSD-3-Clause
// trivance-b: proofs, steps, volume, loads, extents, and the trees behind it.
#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/registry/registry.hpp"
#include "algorithms/schedule/long_dimensions.hpp"
#include "algorithms/trivance/halves.hpp"
#include "algorithms/trivance/orders.hpp"
#include "algorithms/trivance/tree.hpp"
#include "tests/algorithms/trivance/testing.hpp"

namespace trefoil {
namespace {

using namespace testing_trivance;

CostSummary cost_of(const std::string& shape) {
    return summarize(Torus::parse(shape), trivance<build_trivance_b>());
}

TEST(TrivanceBandwidth, ProvedOnRings) {
    prove_steps(trivance<build_trivance_b>(), rings(1, 40), true, 2);
}
TEST(TrivanceBandwidth, ProvedOnTori) {
    prove_steps(trivance<build_trivance_b>(), tori(), true, 2);
}

TEST(TrivanceBandwidth, EveryoneSendsTheLeastPossible) {
    for (const char* shape : {"2", "7", "16", "27", "4x4", "3x5", "2x6", "2x3x4"}) {
        const double ranks = Torus::parse(shape).ranks();
        const CostSummary cost = cost_of(shape);
        EXPECT_NEAR(cost.bytes_sent_max, 2 * (ranks - 1) / ranks, 1e-9) << shape;
        EXPECT_NEAR(cost.bytes_sent_min, 2 * (ranks - 1) / ranks, 1e-9) << shape;
    }
}

TEST(TrivanceBandwidth, LoadsOfRingsAreTheLeastKnown) {
    const std::pair<const char*, double> known[] = {
        {"3", 1.0 / 3},       {"8", 5.5 / 8},      {"9", 2.0 / 3},  {"16", 13.5 / 16},
        {"32", 31.5 / 32},    {"64", 87.5 / 64},   {"81", 4.0 / 3}, {"100", 134.5 / 100},
        {"128", 180.5 / 128}, {"256", 411.5 / 256}};
    for (const auto& [shape, per_phase] : known) {
        EXPECT_NEAR(cost_of(shape).sum_link_load, 2 * per_phase, 1e-9) << shape;
    }
}

TEST(TrivanceBandwidth, LoadsOfRectanglesAreTheLeastKnown) {
    const std::pair<const char*, double> known[] = {
        {"2x4", 13.0 / 24},  {"4x2", 13.0 / 24}, {"3x4", 19.0 / 36}, {"4x8", 25.0 / 32},
        {"2x3x4", 5.0 / 12}, {"2x6", 3.0 / 4},   {"4x4", 15.0 / 32}, {"3x9", 2.0 / 3}};
    for (const auto& [shape, load] : known) {
        EXPECT_NEAR(cost_of(shape).sum_link_load, load, 1e-9) << shape;
        const Torus torus = Torus::parse(shape);
        const Algorithm& half = find_algorithm(Collective::reduce_scatter, "trivance");
        EXPECT_NEAR(summarize(torus, half).sum_link_load, load / 2, 1e-9) << shape;
    }
}

TEST(TrivanceBandwidth, OrdersTakeEveryStepOnce) {
    for (const char* shape : {"1", "2", "8x8", "2x4", "1x4x6", "2x3x2x4", "16x64x4", "1024x3"}) {
        const Torus torus = Torus::parse(shape);
        const auto orders = trivance_orders(torus);
        const std::size_t moving = long_dimensions(torus).size();
        EXPECT_GE(orders.size(), std::max<std::size_t>(moving, 1)) << shape;
        EXPECT_LE(orders.size(), std::max<std::size_t>(2 * moving, 1)) << shape;
        for (const std::vector<int>& order : orders) {
            for (int j = 0; j < torus.dimensions(); ++j) {
                EXPECT_EQ(std::ranges::count(order, j), trivance_steps(torus.size(j))) << shape;
            }
        }
    }
}

TEST(TrivanceBandwidth, DeficiencyOfPowersOfThree) {
    EXPECT_NEAR(2 * cost_of("9x9").sum_link_load, 8.0 / 9 * (1 + 1.0 / 3), 1e-9);
    EXPECT_NEAR(2 * cost_of("27x27").sum_link_load, 1.284, 0.0005);
    EXPECT_NEAR(3 * cost_of("9x9x9").sum_link_load, 26.0 / 27 * (1 + 1.0 / 9), 1e-9);
}

TEST(TrivanceBandwidth, PowersOfThreeSendOneExtent) {
    for (const char* shape : {"3", "9", "27", "81", "3x3", "9x3", "9x9", "3x3x3"}) {
        EXPECT_EQ(cost_of(shape).max_extents_per_message, 1) << shape;
    }
}

TEST(TrivanceBandwidth, OtherSizesNeedFewExtents) {
    // About a third of the blocks would be single ones in natural order.
    EXPECT_LE(cost_of("6").max_extents_per_message, 2);
    EXPECT_LE(cost_of("64").max_extents_per_message, 15);
    EXPECT_LE(cost_of("128").max_extents_per_message, 19);
    EXPECT_LE(cost_of("8x8").max_extents_per_message, 8);
}

TEST(TrivanceBandwidth, OneMessagePerPortOnCubes) {
    for (const char* shape : {"2", "8", "16", "50", "2x2", "4x4", "8x8", "5x5", "4x4x4"}) {
        EXPECT_EQ(cost_of(shape).max_sends_per_port_per_step, 1) << shape;
    }
}

TEST(TrivanceTree, EveryOffsetReachesItsDestination) {
    for (Rank n = 1; n <= 130; ++n) {
        for (const int dimensions : {1, 2, 3}) {
            SCOPED_TRACE(n);
            const auto tree = trivance_tree(n, dimensions);
            const int steps = trivance_steps(n);
            ASSERT_EQ(tree->distances.size(), static_cast<std::size_t>(steps));
            ASSERT_EQ(tree->levels[0], steps);
            for (Rank o = 1; o < n; ++o) {
                const int level = tree->levels[o];
                ASSERT_GE(level, 0);
                ASSERT_LT(level, steps);
                ASSERT_LE(2 * tree->distances[level], n);
                const Rank parent = (o - tree->signs[o] * tree->distances[level] + n) % n;
                EXPECT_GT(tree->levels[parent], level);
            }
        }
    }
}

TEST(TrivanceTree, OddRingsOfOneDimensionNeedNoMirror) {
    for (const Rank n : {3, 5, 7, 9, 15, 21, 25, 27, 45, 81}) {
        EXPECT_TRUE(trivance_tree(n, 1)->balanced) << n;
    }
    EXPECT_FALSE(trivance_tree(8, 1)->balanced);
}

TEST(TrivanceTree, LargeSizesAreBuiltWithinTheBound) {
    for (const Rank n : {1000, 1024, 2187, 4096}) {
        const auto tree = trivance_tree(n, 1);
        EXPECT_EQ(tree->levels.size(), static_cast<std::size_t>(n));
        EXPECT_LE(trivance_tree_load(*tree, 1), trivance_steps(n) / 3.0 + 1e-9);
    }
}

TEST(TrivanceTree, WhatIsKnownIsWhatTheSearchFinds) {
    for (const Rank n : {64, 128, 256, 512, 1024}) {
        for (int dimensions = 1; dimensions <= 4; ++dimensions) {
            const TrivanceTree found = search_trivance_tree(n, dimensions);
            const auto tree = trivance_tree(n, dimensions);
            EXPECT_EQ(tree->distances, found.distances) << n << " " << dimensions;
            EXPECT_EQ(tree->levels, found.levels) << n << " " << dimensions;
            EXPECT_EQ(tree->signs, found.signs) << n << " " << dimensions;
        }
    }
}

TEST(TrivanceHalves, MessagesOfThePairBecomeOne) {
    ScheduleWriter writer(0);
    for (const Block first : {0U, 1U}) {
        writer.part(3);
        writer.step();
        writer.send(1, Port::plus(0), std::array{Extent{first, 1}});
        writer.send(2, Port::minus(0), std::array{Extent{2, 1}});
        writer.receive(2, Port::minus(0), Action::reduce, std::array{Extent{first, 2}});
    }
    const Schedule joined = join_halves(writer.take());
    ASSERT_EQ(joined.parts.size(), 1U);
    EXPECT_EQ(joined.parts[0].vector_blocks, 6U);
    ASSERT_EQ(joined.sends.size(), 2U);
    ASSERT_EQ(joined.receives.size(), 1U);
    const auto sent = joined.extents_of(joined.sends[0]);
    EXPECT_EQ(std::vector(sent.begin(), sent.end()), (std::vector<Extent>{{0, 1}, {4, 1}}));
    const auto got = joined.extents_of(joined.applications_of(joined.receives[0])[0]);
    EXPECT_EQ(std::vector(got.begin(), got.end()), (std::vector<Extent>{{0, 2}, {4, 2}}));
    EXPECT_EQ(joined.applications[0].action, Action::reduce);
}

}  // namespace
}  // namespace trefoil
