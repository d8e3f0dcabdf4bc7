// SPDX-License-Identifier: BSD-3-Clause
// Swing and recursive doubling for latency: folding, steps, ports and loads. (That they compute an
// allreduce is proved for the whole table.)
#include <gtest/gtest.h>

#include <bit>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/bandwidth/builders.hpp"
#include "algorithms/latency/builders.hpp"
#include "algorithms/registry/registry.hpp"
#include "algorithms/rings/folded_ring.hpp"

namespace trefoil {
namespace {

TEST(FoldedRing, LeavesPowersOfTwoAlone) {
    for (const Rank size : {1, 2, 4, 64, 1 << 30}) {
        const FoldedRing ring(size);
        EXPECT_FALSE(ring.folded());
        EXPECT_EQ(ring.groups(), size);
        EXPECT_EQ(ring.steps(), std::countr_zero(static_cast<std::uint32_t>(size)));
        EXPECT_EQ(ring.group_of(size - 1), size - 1);
        EXPECT_EQ(ring.centre(size / 2), size / 2);
        EXPECT_EQ(ring.reflected(0), 0);
        EXPECT_EQ(ring.reflected(size - 1), 1 % size);
    }
}

TEST(FoldedRing, GroupsAreOneToThreeNeighboursAroundTheirCentre) {
    for (Rank size = 1; size <= 300; ++size) {
        const FoldedRing ring(size);
        SCOPED_TRACE(size);
        EXPECT_TRUE(std::has_single_bit(static_cast<std::uint32_t>(ring.groups())));
        EXPECT_EQ(ring.first(0), 0);
        EXPECT_EQ(ring.first(ring.groups()), size);
        for (Rank g = 0; g < ring.groups(); ++g) {
            const Rank members = ring.first(g + 1) - ring.first(g);
            EXPECT_GE(members, 1);
            EXPECT_LE(members, 3);
            EXPECT_TRUE(ring.is_centre(ring.centre(g)));
            for (Rank c = ring.first(g); c < ring.first(g + 1); ++c) {
                EXPECT_EQ(ring.group_of(c), g);
                EXPECT_LE(std::abs(c - ring.centre(g)), 1);
            }
        }
    }
}

TEST(FoldedRing, TakesAtMostOneStepMoreThanTheLogarithm) {
    for (Rank size = 2; size <= 300; ++size) {
        const int logarithm = std::bit_width(static_cast<std::uint32_t>(size - 1));
        EXPECT_GE(FoldedRing(size).steps(), logarithm) << size;
        EXPECT_LE(FoldedRing(size).steps(), logarithm + 1) << size;
    }
    EXPECT_EQ(FoldedRing(3).steps(), 2);
    EXPECT_EQ(FoldedRing(6).steps(), 3);
    EXPECT_EQ(FoldedRing(7).steps(), 4);
    EXPECT_EQ(FoldedRing(12).steps(), 4);
}

TEST(FoldedRing, ReflectsThereAndBack) {
    for (Rank size = 1; size <= 100; ++size) {
        const FoldedRing ring(size);
        for (Rank c = 0; c < size; ++c) {
            const Rank image = ring.reflected(c);
            ASSERT_GE(image, 0);
            ASSERT_LT(image, size);
            EXPECT_EQ(ring.reflected(image), c);
            EXPECT_EQ(ring.reflected((c + 1) % size), (image + size - 1) % size);
        }
    }
}

CostSummary cost_of(std::string_view algorithm, const std::string& shape) {
    return summarize(Torus::parse(shape), find_algorithm(Collective::allreduce, algorithm));
}

TEST(Latency, StepsAddUpOverDimensions) {
    for (const char* shape : {"8", "9", "2x2", "3x5", "4x8", "2x3x4", "1x6"}) {
        int steps = 0;
        int moving = 0;
        const Torus torus = Torus::parse(shape);
        for (const Rank size : torus.sizes()) {
            steps += FoldedRing(size).steps();
            moving += size > 1 ? 1 : 0;
        }
        for (const char* algorithm : {"swing-l", "recursive-doubling-l", "recursive-doubling-i"}) {
            EXPECT_EQ(cost_of(algorithm, shape).steps, steps) << algorithm << " on " << shape;
            EXPECT_EQ(cost_of(algorithm, shape).parts, 2 * moving) << algorithm << " on " << shape;
        }
    }
}

TEST(Latency, SwingSendsOneMessagePerPortOnEveryRing) {
    for (Rank n = 2; n <= 64; ++n) {
        EXPECT_EQ(cost_of("swing-l", std::to_string(n)).max_sends_per_port_per_step, 1) << n;
    }
}

TEST(Latency, OneMessagePerPortOnCubes) {
    for (const char* shape : {"2x2", "3x3", "4x4", "8x8", "2x2x2", "3x3x3", "4x4x4"}) {
        EXPECT_EQ(cost_of("swing-l", shape).max_sends_per_port_per_step, 1) << shape;
        EXPECT_EQ(cost_of("recursive-doubling-l", shape).max_sends_per_port_per_step, 1) << shape;
    }
}

// Facing partners load all links alike; nested ones cost a third more at most, far from the double
// of plain ones.
TEST(Latency, LoadsOfRecursiveDoubling) {
    const CostSummary facing = cost_of("recursive-doubling-l", "64");
    EXPECT_EQ(facing.step_max_link_load, (std::vector<double>{0.5, 1, 2, 4, 8, 16}));
    const CostSummary nested = cost_of("recursive-doubling-i", "64");
    EXPECT_EQ(nested.step_max_link_load, (std::vector<double>{0.5, 1.5, 2.5, 5.5, 10.5, 16}));
}

// The mirrored groups lie where plain parts load links least.
TEST(Latency, FoldedRingsShareTheLoadOfTheirHalves) {
    EXPECT_DOUBLE_EQ(cost_of("recursive-doubling-l", "31").sum_link_load, 10);
    EXPECT_DOUBLE_EQ(cost_of("recursive-doubling-i", "31").sum_link_load, 10.5);
    EXPECT_DOUBLE_EQ(cost_of("recursive-doubling-l", "15").sum_link_load, 5.5);
    EXPECT_DOUBLE_EQ(cost_of("recursive-doubling-l", "3x2").sum_link_load, 1);
    EXPECT_DOUBLE_EQ(cost_of("swing-l", "13").sum_link_load, 4);
    EXPECT_DOUBLE_EQ(cost_of("swing-l", "31").sum_link_load, 7);
}

// Both ranks of a pair are equally far both ways: plain parts go one way, mirrored the other.
TEST(Latency, MirroredPartsUseTheOtherLinkOfAPair) {
    for (const auto build : {build_swing_l, build_recursive_doubling_l, build_recursive_doubling_i,
                             build_ring<Collective::allreduce>}) {
        const Schedule schedule = build(Torus({2}), 0, {});
        ASSERT_EQ(schedule.parts.size(), 2u);
        const Step& plain = schedule.of(schedule.parts[0])[0];
        const Step& mirrored = schedule.of(schedule.parts[1])[0];
        EXPECT_EQ(schedule.sends_of(plain)[0].port, Port::plus(0));
        EXPECT_EQ(schedule.sends_of(mirrored)[0].port, Port::minus(0));
        EXPECT_EQ(schedule.receives_of(plain)[0].port, Port::minus(0));
        EXPECT_EQ(schedule.receives_of(mirrored)[0].port, Port::plus(0));
    }
}

TEST(Latency, DimensionsOfOneRankTakeNoPart) {
    EXPECT_EQ(build_swing_l(Torus({1, 1}), 0, {}).parts.size(), 1u);
    EXPECT_EQ(build_swing_l(Torus({1, 1}), 0, {}).steps.size(), 0u);
    EXPECT_EQ(build_swing_l(Torus({1, 3, 1}), 0, {}).parts.size(), 2u);
}

}  // namespace
}  // namespace trefoil
