// SPDX-License-Identifier: BSD-3-Clause
// The torus product rule: orders, parts, the numbering of blocks, and the allgather in reverse.
#include "algorithms/bandwidth/product.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "algorithms/rings/halving_ring.hpp"
#include "algorithms/rings/swing_ring.hpp"

namespace trefoil::product_test {
namespace {

using Ring = std::shared_ptr<const RingScatter>;

Ring swing(Rank size) {
    return std::make_shared<HalvingRing>(Halving::swing, size);
}

Ring sets(Rank size) {
    return std::make_shared<SwingRing>(size);
}

std::vector<Extent> to_vector(std::span<const Extent> extents) {
    return {extents.begin(), extents.end()};
}

TEST(InterleavedOrder, AlternatesUntilADimensionIsFinished) {
    const std::vector<Ring> rings{swing(8), swing(1), swing(4)};
    EXPECT_EQ(interleaved_order(rings, 0), (std::vector<int>{0, 2, 0, 2, 0}));
    EXPECT_EQ(interleaved_order(rings, 1), (std::vector<int>{2, 0, 2, 0, 0}));
}

TEST(InterleavedParts, ArePlainThenMirroredPerMovingDimension) {
    const std::vector<Ring> plain{swing(2), swing(1), swing(4)};
    const std::vector<Ring> mirror{swing(2), swing(1), swing(4)};
    const std::vector<ProductPart> parts =
        interleaved_parts({{plain[0], mirror[0]}, {plain[1], mirror[1]}, {plain[2], mirror[2]}});
    ASSERT_EQ(parts.size(), 4U);
    EXPECT_EQ(parts[1].rings, plain);
    EXPECT_EQ(parts[2].rings, mirror);
    EXPECT_EQ(parts[1].order, parts[3].order);
    EXPECT_EQ(parts[1].order, interleaved_order(plain, 1));
}

TEST(InterleavedParts, OfOneRankAreOnePartWithoutSteps) {
    const RingPair ring{swing(1), swing(1)};
    const Schedule schedule =
        product_schedule(Torus({1, 1}), 0, interleaved_parts({ring, ring}), Collective::allreduce);
    ASSERT_EQ(schedule.parts.size(), 1U);
    EXPECT_EQ(schedule.parts[0].vector_blocks, 1U);
    EXPECT_TRUE(schedule.steps.empty());
}

TEST(Mirrored, ReflectsPeersAndSignsAndKeepsPositions) {
    const Ring ring = swing(8);
    for (const Rank centre : {0, 5}) {
        const Ring mirror = mirrored(ring, centre);
        for (Rank c = 0; c < 8; ++c) {
            const Rank image = (centre - c + 8) % 8;
            std::vector<RingTransfer> original;
            std::vector<RingTransfer> reflected;
            ring->sends(image, 1, original);
            mirror->sends(c, 1, reflected);
            ASSERT_EQ(reflected.size(), 1U);
            EXPECT_EQ(reflected[0].peer, (centre - original[0].peer + 8) % 8);
            EXPECT_EQ(reflected[0].sign, -original[0].sign);
            EXPECT_EQ(reflected[0].positions, original[0].positions);
            EXPECT_EQ(mirror->held(c, 2), ring->held(image, 2));
        }
    }
}

TEST(ProductSchedule, NumbersBlocksInTheOrderOfTheSteps) {
    // 4x4, dimension 0 first: it halves the 16 blocks, then dimension 1 halves what is left, ...
    const Torus torus({4, 4});
    const std::vector<Ring> rings{swing(4), swing(4)};
    const Schedule schedule =
        product_schedule(torus, 0, {{rings, {0, 1, 0, 1}}}, Collective::allreduce);
    ASSERT_EQ(schedule.steps.size(), 8U);
    const std::vector<Extent> expected{{8, 8}, {4, 4}, {2, 2}, {1, 1}};
    const std::vector<Rank> peers{4, 1, 12, 3};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto sends = schedule.sends_of(schedule.steps[i]);
        ASSERT_EQ(sends.size(), 1U);
        EXPECT_EQ(sends[0].peer, peers[i]);
        EXPECT_EQ(to_vector(schedule.extents_of(sends[0])), std::vector<Extent>{expected[i]});
    }
    EXPECT_EQ(schedule.sends_of(schedule.steps[0])[0].port, Port::plus(0));
    EXPECT_EQ(schedule.sends_of(schedule.steps[2])[0].port, Port::minus(0));
    EXPECT_EQ(schedule.receives_of(schedule.steps[2])[0].port, Port::minus(0));
}

TEST(ProductSchedule, IdleStepsMoveNothing) {
    const std::vector<Ring> rings{swing(2)};
    const Schedule schedule =
        product_schedule(Torus({2}), 0, {{rings, {-1, 0, -1}}}, Collective::allreduce);
    ASSERT_EQ(schedule.steps.size(), 6U);
    for (const std::size_t idle : {0, 2, 3, 5}) {
        EXPECT_EQ(schedule.steps[idle].sends.count, 0U);
        EXPECT_EQ(schedule.steps[idle].receives.count, 0U);
    }
    EXPECT_EQ(schedule.steps[1].sends.count, 1U);
    EXPECT_EQ(schedule.steps[4].sends.count, 1U);
}

TEST(ProductSchedule, SendsProductsOfSetsThatAreNoCells) {
    // What rank (0, 0) sends first: the blocks that coordinate 1 of dimension 0 keeps and 0 does
    // not, with all of dimension 1.
    const Torus torus({6, 10});
    const std::vector<Ring> rings{sets(6), sets(10)};
    const Schedule schedule =
        product_schedule(torus, 0, {{rings, interleaved_order(rings, 0)}}, Collective::allreduce);
    std::vector<RingTransfer> first;
    rings[0]->sends(0, 0, first);
    ASSERT_EQ(first.size(), 1U);
    const auto sent = schedule.extents_of(schedule.sends_of(schedule.steps[0])[0]);
    EXPECT_EQ(block_count(sent), 10 * block_count(first[0].positions));
    // In the second step dimension 1 moves, for the blocks still held in dimension 0.
    std::vector<RingTransfer> second;
    rings[1]->sends(0, 0, second);
    const auto next = schedule.extents_of(schedule.sends_of(schedule.steps[1])[0]);
    EXPECT_EQ(block_count(next),
              block_count(rings[0]->held(0, 1)) * block_count(second[0].positions));
}

void expect_reversed(const Schedule& schedule, const Part& part) {
    const auto steps = schedule.of(part);
    for (std::size_t i = 0; 2 * i < steps.size(); ++i) {
        const auto forth = schedule.sends_of(steps[i]);
        const auto back = schedule.receives_of(steps[steps.size() - 1 - i]);
        ASSERT_EQ(forth.size(), back.size());
        for (std::size_t k = 0; k < forth.size(); ++k) {
            EXPECT_EQ(forth[k].peer, back[k].peer);
            EXPECT_EQ(forth[k].port, back[k].port);
            const auto applied = schedule.applications_of(back[k]);
            ASSERT_EQ(applied.size(), 1U);
            EXPECT_EQ(applied[0].action, Action::replace);
            EXPECT_EQ(to_vector(schedule.extents_of(forth[k])),
                      to_vector(schedule.extents_of(applied[0])));
        }
    }
}

TEST(ProductSchedule, AllgatherIsTheReduceScatterReversed) {
    const Torus torus({4, 6});
    const Ring four = swing(4), six = sets(6);
    const std::vector<ProductPart> parts =
        interleaved_parts({{four, mirrored(four)}, {six, mirrored(six)}});
    for (Rank r = 0; r < torus.ranks(); ++r) {
        const Schedule schedule = product_schedule(torus, r, parts, Collective::allreduce);
        for (const Part& part : schedule.parts) {
            ASSERT_NO_FATAL_FAILURE(expect_reversed(schedule, part));
        }
    }
}

}  // namespace
}  // namespace trefoil::product_test
