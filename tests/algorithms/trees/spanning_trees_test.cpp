// SPDX-License-Identifier: BSD-3-Clause
// Spanning trees: they reach every rank, share no link, and are as deep as they say; the rooted
// collectives over them are proved for many roots and numbers of pieces.
#include "algorithms/trees/spanning_trees.hpp"
#include "algorithms/registry/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "algorithms/analysis/cost.hpp"
#include "tests/algorithms/registry/proof.hpp"
#include "tests/algorithms/registry/proof_shapes.hpp"

namespace trefoil {
namespace {

const Algorithm& pipeline(Collective collective) {
    return find_algorithm(collective, "spanning-trees");
}

/// Follows parents to the root; -1 when that takes more than `ranks` hops.
int hops_to_root(const Torus& torus, const SpanningTrees& trees, int tree, Rank rank, Rank root) {
    for (int hops = 0; hops <= torus.ranks(); ++hops) {
        if (rank == root) {
            return hops;
        }
        rank = torus.neighbour(rank, trees.entry(tree, rank).opposite());
    }
    return -1;
}

void check_trees(const Torus& torus, Rank root) {
    SCOPED_TRACE(torus.name() + " from root " + std::to_string(root));
    const SpanningTrees trees(torus, root);
    int deepest = 0;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        if (r == root) {
            continue;
        }
        std::set<Port> arcs;
        for (int t = 0; t < trees.count(); ++t) {
            ASSERT_TRUE(arcs.insert(trees.entry(t, r)).second) << "two trees share an arc to " << r;
            const int hops = hops_to_root(torus, trees, t, r, root);
            ASSERT_EQ(hops, trees.depth(t, r)) << "tree " << t << " at rank " << r;
            deepest = std::max(deepest, hops);
        }
    }
    EXPECT_EQ(trees.depth(), deepest);
}

void check_children(const Torus& torus, Rank root) {
    const SpanningTrees trees(torus, root);
    for (int t = 0; t < trees.count(); ++t) {
        std::multiset<Rank> reached;
        for (Rank r = 0; r < torus.ranks(); ++r) {
            for (const Port port : trees.children(t, r)) {
                const Rank child = torus.neighbour(r, port);
                EXPECT_EQ(trees.entry(t, child), port);
                reached.insert(child);
            }
        }
        EXPECT_EQ(reached.size(), static_cast<std::size_t>(torus.ranks() - 1)) << torus.name();
        EXPECT_EQ(std::set<Rank>(reached.begin(), reached.end()).size(), reached.size());
    }
}

TEST(SpanningTrees, ReachEveryRankAndShareNoLink) {
    std::vector<std::string> shapes = rings(1, 64);
    for (const auto& more : {small_tori(), large_tori()}) {
        shapes.insert(shapes.end(), more.begin(), more.end());
    }
    for (const char* more : {"2x2x2x2", "2x2x2x2x2", "2x2x5", "5x2x2", "2x5x2", "2x3x2x4",
                             "3x2x2x2x3", "4x2x5x2x2", "3x3x3x3", "5x4x3x2", "16x16", "7x7x7"}) {
        shapes.emplace_back(more);
    }
    for (const std::string& shape : shapes) {
        const Torus torus = Torus::parse(shape);
        for (const Rank root : proof_roots(torus, pipeline(Collective::bcast))) {
            check_trees(torus, root);
            check_children(torus, root);
        }
    }
}

// Every mixture of sizes, for which the sizes 1 to 5 stand: 1 is absent, 2 a pair, odd and even.
TEST(SpanningTrees, ReachEveryRankOnEveryMixtureOfSizes) {
    for (int code = 0; code < 5 * 5 * 5 * 5; ++code) {
        check_trees(Torus({1 + code % 5, 1 + code / 5 % 5, 1 + code / 25 % 5, 1 + code / 125}), 0);
    }
}

TEST(SpanningTrees, AreOneWayAroundOneDimensionAndHalfWayAroundTheOthers) {
    EXPECT_EQ(SpanningTrees(Torus({8, 8}), 0).depth(), 7 + 4);
    EXPECT_EQ(SpanningTrees(Torus({16, 16}), 0).depth(), 15 + 8);
    EXPECT_EQ(SpanningTrees(Torus({8, 8, 8}), 0).depth(), 7 + 4 + 4);
    EXPECT_EQ(SpanningTrees(Torus({5, 9}), 0).depth(), 8 + 2);
    EXPECT_EQ(SpanningTrees(Torus({2, 16, 16}), 0).depth(), 2 + 15 + 8);
    EXPECT_EQ(SpanningTrees(Torus({8, 8, 8, 2, 3, 2}), 0).depth(), 2 + 1 + 7 + 4 + 4 + 1);
}

void prove_tree(const std::string& shape, Collective collective, const BuildOptions& options) {
    const Torus torus = Torus::parse(shape);
    SCOPED_TRACE(std::string(to_string(collective)) + " on " + shape + " from root " +
                 std::to_string(options.root));
    const Verification proof = verify(torus, pipeline(collective), options);
    ASSERT_TRUE(proof.ok()) << proof.errors[0];
    EXPECT_TRUE(proof.identical_results);
}

void prove_roots(const std::vector<std::string>& shapes, Block pieces) {
    using enum Collective;
    for (const std::string& shape : shapes) {
        for (const Rank root : proof_roots(Torus::parse(shape), pipeline(Collective::bcast))) {
            for (const Collective collective : {bcast, reduce}) {
                prove_tree(shape, collective, {.root = root, .pieces = pieces});
            }
            for (const Collective collective : {gather, scatter}) {
                prove_tree(shape, collective, {.root = root});
            }
        }
    }
}

TEST(SpanningSchedules, AreProvedOnRings) {
    prove_roots(rings(1, 64), 3);
}

TEST(SpanningSchedules, AreProvedOnTori) {
    prove_roots(small_tori(), 0);
    prove_roots(large_tori(), 5);
    prove_roots({"2x2x5", "5x2x2", "3x2x4x2"}, 1);
}

TEST(SpanningPipeline, LoadsALinkWithOnePieceAtATime) {
    for (const char* shape : {"3", "8", "4x4", "3x5", "3x4x5", "2x2x2", "1x7"}) {
        const Torus torus = Torus::parse(shape);
        for (const Collective collective : {Collective::bcast, Collective::reduce}) {
            SCOPED_TRACE(shape);
            const CostSummary cost = summarize(torus, pipeline(collective), {.pieces = 8});
            const SpanningTrees trees(torus, 0);
            EXPECT_EQ(cost.parts, trees.count());
            EXPECT_EQ(cost.steps, trees.depth() + 8 - 1);
            EXPECT_EQ(cost.max_sends_per_port_per_step, 1);
            EXPECT_EQ(cost.sum_hops, cost.steps);
            EXPECT_DOUBLE_EQ(cost.bytes_sent_total, torus.ranks() - 1);
            for (const double load : cost.step_max_link_load) {
                EXPECT_DOUBLE_EQ(load, 1.0 / (trees.count() * 8));
            }
        }
    }
}

/// Load over what the root alone needs to send each block once over all ports.
double excess_load(const char* shape, Collective collective) {
    const Torus torus = Torus::parse(shape);
    const CostSummary cost = summarize(torus, pipeline(collective));
    const SpanningTrees trees(torus, 0);
    EXPECT_EQ(cost.steps, trees.depth());
    EXPECT_EQ(cost.sum_hops, cost.steps);
    EXPECT_EQ(cost.max_sends_per_port_per_step, 1);
    return cost.sum_link_load * trees.count() / (1 - 1.0 / torus.ranks());
}

TEST(SpanningScatter, IsAsFastAsTheLinksOfTheRootWhereSizesAreEqual) {
    for (const char* shape : {"3", "8", "4x4", "8x8", "9x9", "8x8x8", "2x2x2"}) {
        SCOPED_TRACE(shape);
        EXPECT_NEAR(excess_load(shape, Collective::gather), 1, 1e-9);
        EXPECT_NEAR(excess_load(shape, Collective::scatter), 1, 1e-9);
    }
}

// Trees of different depth have their widest levels in different steps.
TEST(SpanningScatter, IsNotMuchSlowerElsewhere) {
    for (const char* shape : {"3x5", "3x4x5", "4x16", "2x3x4"}) {
        const double excess = excess_load(shape, Collective::scatter);
        EXPECT_GE(excess, 1 - 1e-9) << shape;
        EXPECT_LE(excess, 1.4) << shape;
        EXPECT_NEAR(excess_load(shape, Collective::gather), excess, 1e-9) << shape;
    }
}

TEST(SpanningPipeline, RefusesMorePiecesThanAScheduleCanHold) {
    const Algorithm& bcast = pipeline(Collective::bcast);
    EXPECT_EQ(bcast.refusal(Torus({4}), {.pieces = most_pieces}), "");
    EXPECT_NE(bcast.refusal(Torus({4}), {.pieces = most_pieces + 1}), "");
}

}  // namespace
}  // namespace trefoil
