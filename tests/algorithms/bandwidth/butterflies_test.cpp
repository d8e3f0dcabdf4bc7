// SPDX-License-Identifier: BSD-3-Clause
// Bine's butterflies: steps, hops, bytes, extents, and one port at a time. That they are correct on
// every shape the table's proofs tell.
#include <gtest/gtest.h>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/registry/registry.hpp"
#include "algorithms/rings/fold_scatter.hpp"
#include "tests/algorithms/registry/proof_shapes.hpp"

namespace trefoil::butterflies_test {
namespace {

CostSummary cost(const std::string& shape, Collective collective, const char* name,
                 const BuildOptions& options = {}) {
    return summarize(Torus::parse(shape), find_algorithm(collective, name), options);
}

std::uint64_t blocks_held(const FoldScatter& ring, int step) {
    std::uint64_t sum = 0;
    for (Rank c = 0; c < ring.size(); ++c) {
        sum += block_count(ring.held(c, step));
    }
    return sum;
}

TEST(FoldScatter, LeavesMembersEmptyUntilItBringsTheirBlocksHome) {
    for (const int largest : {2, 3}) {
        for (Rank size = 1; size <= 70; ++size) {
            const FoldScatter home(size, largest, true);
            const FoldScatter away(size, largest, false);
            EXPECT_EQ(blocks_held(home, home.steps()), static_cast<std::uint64_t>(size));
            EXPECT_EQ(blocks_held(away, away.steps()), static_cast<std::uint64_t>(size));
            for (Rank c = 0; c < size; ++c) {
                EXPECT_EQ(block_count(home.held(c, home.steps())), 1u);
                EXPECT_EQ(home.ring().is_centre(c), !away.held(c, away.steps()).empty());
            }
            EXPECT_EQ(home.steps() - away.steps(), home.ring().folded() ? 1 : 0);
        }
    }
}

TEST(FoldedRing, OfPairsHasTheLargestPowerOfTwoOfGroups) {
    for (Rank size = 1; size <= 300; ++size) {
        const FoldedRing ring(size, 2);
        ASSERT_LE(ring.groups(), size);
        ASSERT_GT(2 * ring.groups(), size);
        for (Rank g = 0; g < ring.groups(); ++g) {
            ASSERT_EQ(ring.centre(g), ring.first(g));
            ASSERT_LE(ring.first(g + 1) - ring.first(g), 2);
        }
    }
}

TEST(Butterflies, GoTheDistancesOfBine) {
    using enum Collective;
    const std::vector<int> near_first = {1, 1, 3, 5, 11, 21};
    const std::vector<int> far_first = {21, 11, 5, 3, 1, 1};
    EXPECT_EQ(cost("64", reduce_scatter, "bine").step_max_hops, near_first);
    EXPECT_EQ(cost("64", allgather, "bine").step_max_hops, far_first);
    EXPECT_EQ(cost("64", reduce_scatter, "bine-dh").step_max_hops, far_first);
    EXPECT_EQ(cost("64", allgather, "bine-dh").step_max_hops, near_first);
    EXPECT_EQ(cost("8x8", reduce_scatter, "bine-dh").step_max_hops,
              (std::vector<int>{3, 3, 1, 1, 1, 1}));
    EXPECT_EQ(cost("64", allreduce, "bine-small").sum_hops, 42);
    EXPECT_EQ(cost("64", allreduce, "bine-large").sum_hops, 84);
}

// Far partners exchange the smallest messages when distances grow, the largest when they shrink.
TEST(Butterflies, LoadLinksLessWhenDistancesGrow) {
    const double doubling = cost("64", Collective::reduce_scatter, "bine").sum_link_load;
    const double halving = cost("64", Collective::reduce_scatter, "bine-dh").sum_link_load;
    EXPECT_LT(doubling, halving);
    EXPECT_DOUBLE_EQ(doubling, cost("64", Collective::reduce_scatter, "swing").sum_link_load);
}

TEST(Butterflies, SendEachBlockOnce) {
    for (const char* name : {"bine", "bine-dh"}) {
        for (const char* shape : {"16", "12", "13", "8x8", "6x10", "5x7", "4x2x4"}) {
            const double ranks = Torus::parse(shape).ranks();
            EXPECT_NEAR(cost(shape, Collective::reduce_scatter, name).bytes_sent_max,
                        (ranks - 1) / ranks, 1e-9)
                << name << " on " << shape;
        }
    }
}

TEST(Butterflies, SendOneExtentOnPowersOfTwo) {
    for (const char* shape : {"2", "64", "8x8", "4x16", "2x4x8"}) {
        EXPECT_EQ(cost(shape, Collective::reduce_scatter, "bine").max_extents_per_message, 1);
        EXPECT_EQ(cost(shape, Collective::allreduce, "bine-large").max_extents_per_message, 1);
    }
    for (const std::string& shape : rings(2, 40)) {
        EXPECT_EQ(cost(shape, Collective::allgather, "bine-fold").max_extents_per_message, 1)
            << shape;
    }
}

TEST(Butterflies, HoldNeighboursWhenDistancesShrink) {
    for (const std::string& shape : rings(2, 130)) {
        EXPECT_LE(cost(shape, Collective::reduce_scatter, "bine-dh").max_extents_per_message, 2)
            << shape;
    }
}

// The published figures are those of ranks in a line: p/4 + 1 extents, 1, 1 and 2.
TEST(Butterflies, LayOutBlocksAsPublished) {
    for (const Collective c : {Collective::reduce_scatter, Collective::allgather}) {
        for (const char* shape : {"16", "64", "8x8", "2x4x4"}) {
            for (const bool single_port : {false, true}) {
                const auto extents = [&](Layout layout) {
                    return cost(shape, c, "bine", {.layout = layout, .single_port = single_port})
                        .max_extents_per_message;
                };
                EXPECT_EQ(extents(Layout::permute), 1) << shape;
                EXPECT_EQ(extents(Layout::send), 1) << shape;
                EXPECT_LE(extents(Layout::two_transmissions), 2) << shape;
                if (single_port) {
                    EXPECT_EQ(extents(Layout::block_by_block), Torus::parse(shape).ranks() / 4 + 1)
                        << shape;
                }
            }
        }
    }
}

TEST(Butterflies, FoldForTwoStepsMore) {
    EXPECT_EQ(cost("12", Collective::reduce_scatter, "bine-fold").steps, 4);  // 4 groups of 3
    EXPECT_EQ(cost("12", Collective::allreduce, "bine-fold").steps, 6);       // no way home between
    EXPECT_EQ(cost("16", Collective::reduce_scatter, "bine-fold").steps, 4);
    EXPECT_EQ(cost("9", Collective::allreduce, "bine-fold", {.single_port = true}).steps, 8);
}

}  // namespace
}  // namespace trefoil::butterflies_test
