// SPDX-License-Identifier: BSD-3-Clause
// Spanning trees in modelled time: the number of pieces is the best one, and bcast is faster than
// the other ways from the sizes on that docs/spanning-trees.md tells, whose figures are checked.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/analysis/pipeline_pieces.hpp"
#include "algorithms/registry/registry.hpp"
#include "algorithms/trees/spanning_trees.hpp"

namespace trefoil {
namespace {

constexpr double kib = 1024, mib = 1024 * kib;

const Algorithm& bcast(std::string_view name = "spanning-trees") {
    return find_algorithm(Collective::bcast, name);
}

double time_with(const Torus& torus, Block pieces, double bytes) {
    return CostModel{}.time(summarize(torus, bcast(), {.pieces = pieces}), bytes);
}

// The formula against the cost of the schedules themselves, which is less only where a dimension of
// size 2 has one of its two links idle.
TEST(BestPieces, AreTheBestPowerOfTwo) {
    for (const char* shape : {"2", "9", "4x4", "3x7", "3x3x4"}) {
        const Torus torus = Torus::parse(shape);
        for (double bytes = 1; bytes < 64 * mib; bytes *= 7) {
            const Block best = bcast().pieces(torus, {}, CostModel{}, bytes);
            const double time = time_with(torus, best, bytes);
            for (Block pieces = 1; pieces <= 512; pieces *= 2) {
                EXPECT_LE(time, time_with(torus, pieces, bytes) * (1 + 1e-12))
                    << shape << ", " << bytes << " bytes in " << pieces << " pieces, not " << best;
            }
        }
    }
}

TEST(BestPieces, AreThoseOfAllSegmentsTogether) {
    const Torus torus = Torus::parse("3x3");
    const double bytes = 64 * mib;
    for (const Block segments : {2U, 3U, 16U, 100U}) {
        const Block best = bcast().pieces(torus, {}, CostModel{}, bytes, segments);
        const double time = time_with(torus, best * segments, bytes);
        for (Block pieces = 1; pieces <= 64; pieces *= 2) {
            EXPECT_LE(time, time_with(torus, pieces * segments, bytes) * (1 + 1e-12))
                << segments << " segments in " << pieces << " pieces, not " << best;
        }
    }
    EXPECT_LT(bcast().pieces(torus, {}, CostModel{}, bytes, 16),
              bcast().pieces(torus, {}, CostModel{}, bytes / 16));
}

// Two of many segments run at a time: with fewer pieces than steps to fill them nobody would send
// for a while.
TEST(BestPieces, FillPipelinesThatReturn) {
    constexpr int fill = 9;
    const CostModel slow_steps{.alpha = 1e-5};
    EXPECT_EQ(best_pieces(slow_steps, fill, 64 * mib, 4, 64), 1u);
    EXPECT_EQ(best_pieces(slow_steps, fill, 64 * mib, 4, 2, true),
              best_pieces(slow_steps, fill, 64 * mib, 4, 2));
    EXPECT_EQ(best_pieces(slow_steps, fill, 64 * mib, 4, 64, true), 4u);
}

TEST(BestPieces, AreBounded) {
    const CostModel free_steps{.alpha = 0, .tau = 0};
    EXPECT_EQ(best_pieces(free_steps, 10, mib, 4), most_pieces);
    EXPECT_EQ(best_pieces(free_steps, 0, mib, 4), 1u);
    EXPECT_EQ(best_pieces(CostModel{}, 10, 0, 4), 1u);
    EXPECT_EQ(best_pieces(CostModel{}, 10, 1e30, 4), most_pieces);
    EXPECT_EQ(best_pieces(free_steps, 10, mib, 4, 3), most_pieces / 4);
    EXPECT_EQ(best_pieces(free_steps, 10, mib, 4, most_pieces), 1u);
    EXPECT_EQ(bcast().pieces(Torus({1}), {}, CostModel{}, mib), 1u);
}

// What selection extrapolates from one piece against the schedules themselves: never too little,
// and more only where a dimension of size 2 has one of its two links idle.
TEST(WithPieces, IsWhatTheScheduleCosts) {
    for (const char* shape : {"9", "4x4", "3x7", "3x3x4", "2", "2x5"}) {
        const Torus torus = Torus::parse(shape);
        const CostSummary one = summarize(torus, bcast(), {.pieces = 1});
        for (const Block pieces : {1U, 2U, 5U, 64U}) {
            const CostSummary cost = summarize(torus, bcast(), {.pieces = pieces});
            const CostSummary told = with_pieces(one, {.pieces = pieces});
            EXPECT_EQ(told.steps, cost.steps) << shape;
            EXPECT_EQ(told.sum_hops, cost.sum_hops) << shape;
            EXPECT_GE(told.sum_link_load, cost.sum_link_load - 1e-9) << shape << ", " << pieces;
            EXPECT_LE(told.sum_link_load,
                      cost.sum_link_load * (shape == std::string("2x5") ? 1.1 : 1) + 1e-9)
                << shape << ", " << pieces;
        }
    }
}

constexpr const char* others[] = {"bine-large", "bine-dd", "binomial-dd"};

/// Of schedules that are the same for all sizes of vectors.
double time_of(const CostSummary& cost, double bytes) {
    return CostModel{}.time(cost, bytes);
}

std::string rounded(double value) {
    return std::to_string(std::llround(value));
}

std::string size_text(double bytes) {
    return bytes < mib ? rounded(bytes / kib) + " KiB" : rounded(bytes / mib) + " MiB";
}

TEST(SpanningModel, TableOfThePageIsUpToDate) {
    std::ifstream page(TREFOIL_PAGE);
    std::stringstream text;
    text << page.rdbuf();
    for (const char* shape : {"8x8", "16x16", "8x8x8"}) {
        const Torus torus = Torus::parse(shape);
        std::vector<CostSummary> costs;
        for (const char* name : others) {
            costs.push_back(summarize(torus, bcast(name)));
        }
        for (const double bytes : {64 * kib, mib, 4 * mib, 16 * mib, 64 * mib, 256 * mib}) {
            const Block pieces = bcast().pieces(torus, {}, CostModel{}, bytes);
            std::string row = std::string("| ") + shape + " | " + size_text(bytes) + " | " +
                              std::to_string(pieces) + " | " +
                              rounded(1e6 * time_with(torus, pieces, bytes));
            for (const CostSummary& cost : costs) {
                row += " | " + rounded(1e6 * time_of(cost, bytes));
            }
            EXPECT_NE(text.str().find(row + " |\n"), std::string::npos) << "missing: " << row;
        }
    }
}

// Half the load in the end; the pipeline must be long enough to be worth filling.
TEST(SpanningModel, IsTheFastestBcastOfLargeVectors) {
    for (const auto& [shape, bytes] :
         {std::pair("8x8", 32 * mib), {"16x16", 64 * mib}, {"8x8x8", 64 * mib}}) {
        const Torus torus = Torus::parse(shape);
        for (const char* name : others) {
            const CostSummary cost = summarize(torus, bcast(name));
            for (double n = bytes; n <= 1024 * mib; n *= 2) {
                const Block pieces = bcast().pieces(torus, {}, CostModel{}, n);
                EXPECT_LT(time_with(torus, pieces, n), time_of(cost, n)) << shape << ", " << name;
            }
        }
    }
}

}  // namespace
}  // namespace trefoil
