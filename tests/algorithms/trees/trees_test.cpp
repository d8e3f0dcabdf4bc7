// SPDX-License-Identifier: BSD-3-Clause
// Bine and binomial trees: who reaches whom, in how many steps, at which cost; and linear. That
// they are correct on every shape, from every kind of root, the table's proofs tell.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/analysis/verify.hpp"
#include "algorithms/registry/registry.hpp"
#include "algorithms/trees/torus_tree.hpp"
#include "algorithms/trees/tree_fold.hpp"
#include "tests/algorithms/registry/proof_shapes.hpp"

namespace trefoil {
namespace {

using Pattern = TreeKind::Pattern;
using Distance = TreeKind::Distance;

constexpr TreeKind bine_doubling{Pattern::bine, Distance::doubling};
constexpr TreeKind bine_halving{Pattern::bine, Distance::halving};
constexpr TreeKind binomial_doubling{Pattern::binomial, Distance::doubling};
constexpr TreeKind binomial_halving{Pattern::binomial, Distance::halving};
constexpr TreeKind kinds[] = {bine_doubling, bine_halving, binomial_doubling, binomial_halving};

using Edges = std::set<std::pair<Rank, Rank>>;

Edges edges(const TreeRing& tree, int step) {
    Edges result;
    for (Rank c = 0; c < tree.size(); ++c) {
        if (const Rank child = tree.child(c, step); child != TreeRing::none) {
            result.insert({c, child});
        }
    }
    return result;
}

int ceil_log2(Rank size) {
    int steps = 0;
    while ((std::int64_t{1} << steps) < size) {
        ++steps;
    }
    return steps;
}

TEST(TreeRing, FollowsBinesRuleOnEightCoordinates) {
    const TreeRing doubling(bine_doubling, 8);
    EXPECT_EQ(edges(doubling, 0), (Edges{{0, 1}}));
    EXPECT_EQ(edges(doubling, 1), (Edges{{0, 7}, {1, 2}}));
    EXPECT_EQ(edges(doubling, 2), (Edges{{0, 3}, {1, 6}, {2, 5}, {7, 4}}));
    const TreeRing halving(bine_halving, 8);
    EXPECT_EQ(edges(halving, 0), (Edges{{0, 3}}));
    EXPECT_EQ(edges(halving, 1), (Edges{{0, 7}, {3, 4}}));
    EXPECT_EQ(edges(halving, 2), (Edges{{0, 1}, {3, 2}, {4, 5}, {7, 6}}));
}

TEST(TreeRing, FollowsTheMasksOfBinomialTrees) {
    const TreeRing doubling(binomial_doubling, 6);
    EXPECT_EQ(edges(doubling, 0), (Edges{{0, 1}}));
    EXPECT_EQ(edges(doubling, 1), (Edges{{0, 2}, {1, 3}}));
    EXPECT_EQ(edges(doubling, 2), (Edges{{0, 4}, {1, 5}}));
    const TreeRing halving(binomial_halving, 6);
    EXPECT_EQ(edges(halving, 0), (Edges{{0, 4}}));
    EXPECT_EQ(edges(halving, 1), (Edges{{0, 2}}));
    EXPECT_EQ(edges(halving, 2), (Edges{{0, 1}, {2, 3}, {4, 5}}));
}

TEST(TreeRing, ReachesEverybodyInTheFewestSteps) {
    for (const TreeKind kind : kinds) {
        for (Rank size = 1; size <= 300; ++size) {
            const TreeRing tree(kind, size);
            ASSERT_EQ(tree.steps(), ceil_log2(size)) << size;
            ASSERT_EQ(tree.below(0), size);
            for (Rank c = 1; c < size; ++c) {
                ASSERT_NE(tree.parent(c), TreeRing::none) << c << " of " << size;
                ASSERT_EQ(tree.child(tree.parent(c), tree.joined(c)), c);
                ASSERT_LT(tree.joined(tree.parent(c)), tree.joined(c));
                ASSERT_EQ(tree.ancestor(c, tree.joined(c)), tree.parent(c));
            }
        }
    }
}

// The root is a centre, and so is one of each two neighbours that make a group.
TEST(TreeRing, FoldsAreGroupsOfNeighbours) {
    for (Rank size = 3; size <= 65; size += 2) {
        using enum TreeKind::Cut;
        for (const TreeFold& fold :
             {even_fold(size), balanced_fold(size, Distance::doubling, whole_vectors),
              balanced_fold(size, Distance::halving, whole_vectors),
              balanced_fold(size, Distance::doubling, own_blocks)}) {
            std::set<Rank> seen(fold.centre.begin(), fold.centre.end());
            ASSERT_EQ(fold.centre[0], 0);
            ASSERT_EQ(seen.size(), fold.centre.size());
            for (std::size_t g = 0; g < fold.centre.size(); ++g) {
                if (fold.member[g] != TreeFold::none) {
                    const Rank apart = (fold.member[g] - fold.centre[g] + size) % size;
                    ASSERT_TRUE(apart == 1 || apart == size - 1) << size;
                    seen.insert(fold.member[g]);
                }
            }
            ASSERT_EQ(seen.size(), static_cast<std::size_t>(size));
        }
    }
}

/// The longest way of step s between a parent and a child around the ring.
Rank longest(const TreeRing& tree, int step) {
    Rank result = 0;
    for (const auto& [from, to] : edges(tree, step)) {
        const Rank apart = std::abs(from - to);
        result = std::max(result, std::min(apart, tree.size() - apart));
    }
    return result;
}

// The reason for Bine: distances 1, 1, 3, 5, 11, 21 instead of 1, 2, 4, 8, 16, 32, one third less.
TEST(TreeRing, IsShorterThanABinomialTree) {
    const TreeRing bine(bine_doubling, 64);
    const TreeRing binomial(binomial_doubling, 64);
    const Rank distances[] = {1, 1, 3, 5, 11, 21};
    for (int s = 0; s < 6; ++s) {
        EXPECT_EQ(longest(bine, s), distances[s]);
        EXPECT_EQ(longest(TreeRing(bine_halving, 64), s), distances[5 - s]);
        EXPECT_EQ(longest(binomial, s), 1 << s);
    }
}

TEST(TorusTree, CutsItsBlocksIntoOneExtentPerMessage) {
    for (const TreeKind kind : kinds) {
        for (const char* shape : {"7", "12", "3x5", "4x4", "2x3x4", "2x1x5x2"}) {
            const Torus torus = Torus::parse(shape);
            const Rank root = torus.ranks() / 2;
            const TorusTree tree(torus, kind, root, TreePorts::all);
            for (int p = 0; p < tree.parts(); ++p) {
                std::set<Block> owned;
                for (Rank r = 0; r < torus.ranks(); ++r) {
                    const TreePlace place = tree.place(r, p);
                    owned.insert(place.own);
                    EXPECT_EQ(place.parent.has_value(), r != root);
                    // What it has is its own and what it passes on.
                    Block passed = 1;
                    for (const TreeMessage& m : place.children) {
                        passed += m.blocks.count;
                    }
                    const Block all = place.parent ? place.parent->blocks.count
                                                   : static_cast<Block>(torus.ranks());
                    EXPECT_EQ(passed, all);
                    EXPECT_EQ(place.own, place.parent ? place.parent->blocks.first : 0);
                }
                EXPECT_EQ(owned.size(), static_cast<std::size_t>(torus.ranks()));
            }
        }
    }
}

CostSummary cost(const char* shape, Collective collective, const char* name,
                 const BuildOptions& options = {}) {
    return summarize(Torus::parse(shape), find_algorithm(collective, name), options);
}

TEST(Trees, OddRingsAreBalanced) {
    struct Row {
        const char* name;
        const char* shape;
        double scatter, bcast;
    };
    for (const Row& row :
         {Row{"bine-dd", "5", 2.0 / 5, 1.5}, Row{"bine-dd", "9", 5.0 / 9, 3},
          Row{"bine-dd", "13", 7.0 / 13, 3}, Row{"bine-dd", "17", 12.5 / 17, 5.5},
          Row{"bine-dh", "5", 2.0 / 5, 1.5}, Row{"bine-dh", "17", 8.0 / 17, 2.5}}) {
        for (const Collective c : {Collective::scatter, Collective::gather}) {
            EXPECT_NEAR(cost(row.shape, c, row.name).sum_link_load, row.scatter, 1e-9) << row.shape;
        }
        EXPECT_NEAR(cost(row.shape, Collective::bcast, row.name).sum_link_load, row.bcast, 1e-9)
            << row.shape;
    }
    for (const char* shape : {"25", "27"}) {
        EXPECT_NEAR(cost(shape, Collective::bcast, "bine-dd").sum_link_load, 5.5, 1e-9);
        EXPECT_NEAR(cost(shape, Collective::reduce, "bine-dd").sum_link_load, 5.5, 1e-9);
    }
}

TEST(Trees, CostWhatTheirDistancesSay) {
    const CostSummary bine = cost("64", Collective::bcast, "bine-dd");
    EXPECT_EQ(bine.parts, 2);
    EXPECT_EQ(bine.steps, 6);
    EXPECT_EQ(bine.step_max_hops, (std::vector<int>{1, 1, 3, 5, 11, 21}));
    EXPECT_EQ(cost("64", Collective::reduce, "bine-dd").step_max_hops,
              (std::vector<int>{21, 11, 5, 3, 1, 1}));
    EXPECT_EQ(cost("64", Collective::bcast, "bine-dh").step_max_hops,
              (std::vector<int>{21, 11, 5, 3, 1, 1}));
    EXPECT_EQ(cost("64", Collective::bcast, "binomial-dd").step_max_hops,
              (std::vector<int>{1, 2, 4, 8, 16, 32}));
    const CostSummary torus = cost("8x8", Collective::scatter, "bine-dh");
    EXPECT_EQ(torus.parts, 4);
    EXPECT_EQ(torus.step_max_hops, (std::vector<int>{3, 3, 1, 1, 1, 1}));
    EXPECT_EQ(torus.max_extents_per_message, 1);
    EXPECT_DOUBLE_EQ(torus.step_max_link_load[0], 0.125);
}

// The blocks of everybody but the root leave it, each once.
TEST(Trees, SendEachBlockFromTheRootOnce) {
    for (const char* name : {"bine-dd", "bine-dh", "binomial-dd", "binomial-dh", "linear"}) {
        for (const char* shape : {"13", "16", "3x5", "4x4x2"}) {
            const double ranks = Torus::parse(shape).ranks();
            const CostSummary scatter = cost(shape, Collective::scatter, name, {.root = 1});
            EXPECT_NEAR(scatter.bytes_sent_max, (ranks - 1) / ranks, 1e-9) << name << shape;
            const CostSummary bcast = cost(shape, Collective::bcast, name, {.root = 1});
            EXPECT_NEAR(bcast.bytes_sent_total, ranks - 1, 1e-9) << name << shape;
        }
    }
}

// Scatter and allgather fit: what a child of the tree is sent is what the butterfly lets it hold.
TEST(BineLarge, SendsOneExtentOnPowersOfTwo) {
    for (const char* shape : {"2", "64", "8x8", "4x16", "2x4x8"}) {
        const double ranks = Torus::parse(shape).ranks();
        const CostSummary bcast = cost(shape, Collective::bcast, "bine-large", {.root = 1});
        const CostSummary reduce = cost(shape, Collective::reduce, "bine-large", {.root = 1});
        EXPECT_EQ(bcast.max_extents_per_message, 1) << shape;
        EXPECT_EQ(reduce.max_extents_per_message, 1) << shape;
        EXPECT_EQ(bcast.steps, 2 * ceil_log2(Torus::parse(shape).ranks())) << shape;
        EXPECT_EQ(reduce.steps, bcast.steps) << shape;
        EXPECT_NEAR(bcast.bytes_sent_max, 2 * (ranks - 1) / ranks, 1e-9) << shape;
        EXPECT_NEAR(reduce.bytes_sent_total, bcast.bytes_sent_total, 1e-9) << shape;
    }
}

// Whole vectors in each step are too much for large vectors.
TEST(BineLarge, LoadsLinksLessThanATreeOfWholeVectors) {
    for (const char* shape : {"16", "13", "8x8", "5x6", "4x4x4"}) {
        for (const Collective c : {Collective::bcast, Collective::reduce}) {
            EXPECT_LT(cost(shape, c, "bine-large").sum_link_load,
                      cost(shape, c, "bine-dd").sum_link_load)
                << shape;
        }
    }
}

TEST(Trees, UseOnePortAtATimeWhenAsked) {
    for (const char* name : {"bine-dd", "bine-large", "binomial-dh", "linear"}) {
        for (const Collective c :
             {Collective::bcast, Collective::reduce, Collective::gather, Collective::scatter}) {
            if (std::string_view(name) == "bine-large" && traits_of(c).blocks_have_owners()) {
                continue;
            }
            const Algorithm& algorithm = find_algorithm(c, name);
            for (const char* shape : {"12", "4x4", "3x5"}) {
                const Torus torus = Torus::parse(shape);
                for (Rank r = 0; r < torus.ranks(); ++r) {
                    const Schedule s = algorithm.build(torus, r, {.root = 3, .single_port = true});
                    ASSERT_EQ(s.parts.size(), 1u);
                    for (const Step& step : s.steps) {
                        ASSERT_LE(step.sends.count, 1u);
                        ASSERT_LE(step.receives.count, 1u);
                    }
                }
            }
        }
    }
}

TEST(Linear, UsesEveryPortOfTheRootInEachStep) {
    const CostSummary square = cost("4x4", Collective::bcast, "linear", {.root = 5});
    EXPECT_EQ(square.steps, 4);  // 15 messages through four ports
    EXPECT_EQ(square.max_sends_per_port_per_step, 1);
    EXPECT_EQ(cost("9", Collective::gather, "linear").steps, 4);
    EXPECT_EQ(cost("9", Collective::gather, "linear", {.single_port = true}).steps, 8);
}

// Floating-point results do not depend on the shape: (rank 0 op rank 1) op rank 2, ...
TEST(Linear, ReducesInTheOrderOfTheRanks) {
    for (const char* shape : {"1", "2", "7", "3x4", "2x2x2"}) {
        const Torus torus = Torus::parse(shape);
        for (Rank root = 0; root < torus.ranks(); ++root) {
            const Verification proof =
                verify(torus, find_algorithm(Collective::reduce, "linear"), {.root = root});
            EXPECT_TRUE(proof.ok() && proof.order_preserving) << shape << " root " << root;
        }
    }
    EXPECT_FALSE(
        verify(Torus::parse("8"), find_algorithm(Collective::reduce, "bine-dd")).order_preserving);
}

}  // namespace
}  // namespace trefoil
