// SPDX-License-Identifier: BSD-3-Clause
// Layouts of reduce_scatter and allgather: extents per message, order of blocks, refusals. That
// they are correct is proved with the table (table_proof).
#include <gtest/gtest.h>

#include <bit>
#include <numeric>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/analysis/verify.hpp"
#include "algorithms/registry/registry.hpp"

namespace trefoil::layouts_test {
namespace {

constexpr auto both = {Collective::reduce_scatter, Collective::allgather};

CostSummary swing(Collective collective, const std::string& shape, Layout layout) {
    return summarize(Torus::parse(shape), find_algorithm(collective, "swing"), {.layout = layout});
}

std::vector<Rank> identity(const Torus& torus) {
    std::vector<Rank> ranks(torus.ranks());
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

int log2_steps(const Torus& torus) {
    int steps = 0;
    for (const Rank size : torus.sizes()) {
        steps += std::bit_width(static_cast<std::uint32_t>(size - 1));
    }
    return steps;
}

// De Sensi et al., Bine trees, section 4: the figures of power-of-two rings, here of square tori,
// too.
TEST(Layouts, ExtentsPerMessageOnPowersOfTwo) {
    for (const Collective collective : both) {
        for (const char* shape : {"4", "8", "16", "64", "4x4", "8x8", "4x8"}) {
            SCOPED_TRACE(shape);
            const int p = Torus::parse(shape).ranks();
            EXPECT_EQ(swing(collective, shape, Layout::block_by_block).max_extents_per_message,
                      p / 4 + 1);
            EXPECT_EQ(swing(collective, shape, Layout::permute).max_extents_per_message, 1);
            EXPECT_EQ(swing(collective, shape, Layout::send).max_extents_per_message, 1);
            EXPECT_EQ(swing(collective, shape, Layout::two_transmissions).max_extents_per_message,
                      2);
        }
    }
}

TEST(Layouts, TwoTransmissionsAreEnough) {
    for (const Collective collective : both) {
        for (const char* shape : {"6", "7", "10", "13", "31", "6x10", "2x6x4", "1x6x1x8", "5x9"}) {
            SCOPED_TRACE(shape);
            const CostSummary summary = swing(collective, shape, Layout::two_transmissions);
            const double p = Torus::parse(shape).ranks();
            EXPECT_LE(summary.max_extents_per_message, 2);
            EXPECT_NEAR(summary.bytes_sent_total, p - 1, 1e-9);
            EXPECT_EQ(summary.steps, log2_steps(Torus::parse(shape)));
        }
    }
}

// What the choice is about: the first of the ascending distances carries the most.
TEST(Layouts, TwoTransmissionsLoadLinksMore) {
    const double permuted = swing(Collective::reduce_scatter, "64", Layout::permute).sum_link_load;
    const double intervals =
        swing(Collective::reduce_scatter, "64", Layout::two_transmissions).sum_link_load;
    EXPECT_NEAR(permuted, 1.0547, 0.0001);
    EXPECT_NEAR(intervals, 7.0547, 0.0001);
}

TEST(Layouts, SendCostsOneStepAndABlock) {
    for (const Collective collective : both) {
        for (const char* shape : {"8", "7", "4x4", "3x5"}) {
            SCOPED_TRACE(shape);
            const CostSummary permuted = swing(collective, shape, Layout::permute);
            const CostSummary sent = swing(collective, shape, Layout::send);
            EXPECT_EQ(sent.steps, permuted.steps + 1);
            const double p = Torus::parse(shape).ranks();
            EXPECT_LE(sent.bytes_sent_max, permuted.bytes_sent_max + 1 / p + 1e-12);
            EXPECT_GT(sent.bytes_sent_total, permuted.bytes_sent_total);
        }
    }
}

TEST(Layouts, OnlyPermuteRenumbers) {
    const Torus torus({8, 4});
    for (const Collective collective : both) {
        const Algorithm& algorithm = find_algorithm(collective, "swing");
        for (const Layout layout :
             {Layout::block_by_block, Layout::send, Layout::two_transmissions}) {
            for (int part = 0; part < 2; ++part) {
                EXPECT_EQ(algorithm.block_owners(torus, {.layout = layout}, part), identity(torus))
                    << to_string(layout);
            }
        }
        for (int part = 0; part < 4; ++part) {
            const auto permuted = algorithm.block_owners(torus, {.layout = Layout::permute}, part);
            EXPECT_NE(permuted, identity(torus));
            EXPECT_EQ(permuted, algorithm.block_owners(torus, {}, part));
        }
    }
}

// The proof must depend on the owners, or it would prove nothing about layouts.
TEST(Layouts, TheWrongOwnersAreNoticed) {
    const Torus torus({8});
    for (const Collective collective : both) {
        const Algorithm& algorithm = find_algorithm(collective, "swing");
        std::vector<Schedule> schedules;
        for (Rank r = 0; r < torus.ranks(); ++r) {
            schedules.push_back(algorithm.build(torus, r));
        }
        Goal goal{collective, 0, {}};
        EXPECT_FALSE(verify(torus, goal, schedules).ok());
        for (int part = 0; part < 2; ++part) {
            goal.owners.push_back(algorithm.block_owners(torus, {}, part));
        }
        EXPECT_TRUE(verify(torus, goal, schedules).ok());
    }
}

TEST(Layouts, AreRefusedWhereThereAreNone) {
    const BuildOptions options{.layout = Layout::send};
    EXPECT_NE(find_algorithm(Collective::reduce_scatter, "bucket").refusal(Torus({4}), options),
              "");
    EXPECT_NE(find_algorithm(Collective::allreduce, "swing-b").refusal(Torus({4}), options), "");
}

}  // namespace
}  // namespace trefoil::layouts_test
