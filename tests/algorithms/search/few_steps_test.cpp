// SPDX-License-Identifier: BSD-3-Clause
// Schedules of few steps: the verifier proves them, and they are as short as they say.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/analysis/verify.hpp"
#include "algorithms/registry/registry.hpp"
#include "algorithms/search/few_step_tree.hpp"

namespace trefoil::test::few_steps_test {
namespace {

using enum Collective;

const char* const networks[] = {"1",
                                "2",
                                "2m",
                                "7",
                                "9",
                                "8m",
                                "8:cable=+0@3",
                                "2x2",
                                "3x3",
                                "3x3:cable=+0@4",
                                "3x3:cable=+0@4=0.5",
                                "3x3:link=+0@4",
                                "3x4",
                                "3mx4m",
                                "4x4:node=5",
                                "4x4:node=5=0.5",
                                "4x4:node=1:node=6:node=11",
                                "2x4:twist=0=1+2",
                                "4x8:twist=0=1+4",
                                "5x3:node=3:cable=+0@8=0.25:link=+1@1=0.75",
                                "2x2x3:node=1",
                                "3x3x3"};

CostSummary cost(const Torus& torus, Collective collective) {
    return ModelSummaries(torus).of(find_algorithm(collective, "few-steps"));
}

TEST(FewSteps, AreProvedOnEveryNetwork) {
    for (const char* text : networks) {
        const Torus torus = Torus::parse(text);
        for (const Collective collective : {allreduce, reduce_scatter, allgather, bcast, reduce}) {
            const Algorithm& algorithm = find_algorithm(collective, "few-steps");
            if (!algorithm.refusal(torus).empty()) {
                continue;
            }
            for (const Rank root : {Rank{0}, torus.ranks() / 2}) {
                const Verification proof = verify(torus, algorithm, {.root = root});
                ASSERT_TRUE(proof.ok()) << to_string(collective) << " on " << text << " from root "
                                        << root << ": " << proof.errors[0];
                EXPECT_TRUE(proof.identical_results) << to_string(collective) << " on " << text;
            }
        }
    }
}

// Nobody leaves away from the peer where both ways round the ring would be as long.
TEST(FewSteps, LinesHaveOneWay) {
    const WayTable ways(Torus::parse("8m"));
    for (Rank low = 0; low < 4; ++low) {
        EXPECT_EQ(ways.ports_between(low, low + 4), 1U) << low;
        EXPECT_EQ(ways.ports_between(low + 4, low), 2U) << low;
    }
}

// Millions of ways to share out hops once took all memory there.
TEST(FewSteps, LongRingsAndLinesAreProved) {
    for (const char* text : {"251", "256m"}) {
        const Torus torus = Torus::parse(text);
        const Verification proof = verify(torus, find_algorithm(bcast, "few-steps"), {.root = 3});
        ASSERT_TRUE(proof.ok()) << text << ": " << proof.errors[0];
    }
}

/// Steps, messages of a port in one, and hops.
void expect_tree(const char* text, int steps, int per_port, int hops) {
    const Torus torus = Torus::parse(text);
    for (const Collective collective : {bcast, reduce}) {
        const CostSummary tree = cost(torus, collective);
        EXPECT_EQ(tree.steps, steps) << to_string(collective) << " on " << text;
        EXPECT_EQ(tree.sum_hops, hops) << to_string(collective) << " on " << text;
        if (collective == bcast) {
            EXPECT_EQ(tree.max_sends_per_port_per_step, per_port) << text;
        }
    }
}

// The fewest that five, nine or thirteen times as many ranks in each step leave, and as many hops
// as the farthest rank is away.
TEST(FewSteps, TreesReachTheBounds) {
    expect_tree("9", 2, 1, 4);
    expect_tree("4x4", 2, 1, 4);
    expect_tree("5x5", 2, 1, 4);
    expect_tree("8x8", 2, 2, 8);
    expect_tree("3x3x3", 2, 1, 3);
    expect_tree("3mx4m", 2, 1, 5);
    expect_tree("4x4:node=5", 2, 1, 4);
    expect_tree("4x4:cable=+0@5", 2, 1, 4);
    expect_tree("4x8:twist=0=1+4", 2, 2, 4);
}

void expect_exchange(const char* text, Collective collective, int steps, int per_port, int hops) {
    const CostSummary exchange = cost(Torus::parse(text), collective);
    EXPECT_EQ(exchange.steps, steps) << to_string(collective) << " on " << text;
    EXPECT_EQ(exchange.sum_hops, hops) << to_string(collective) << " on " << text;
    EXPECT_EQ(exchange.max_sends_per_port_per_step, per_port) << text;
}

// The same bounds; detours of messages that go dimension by dimension add a hop or two.
TEST(FewSteps, ExchangesAreShort) {
    for (const Collective collective : {allreduce, allgather}) {
        expect_exchange("9", collective, 2, 1, 4);
        expect_exchange("27", collective, 3, 1, 13);
        expect_exchange("4x4", collective, 2, 1, 4);
        expect_exchange("5x5", collective, 2, 1, 4);
        expect_exchange("8x8", collective, 2, 2, 8);
        expect_exchange("10x10", collective, 3, 1, 10);
        expect_exchange("4x4:node=5", collective, 2, 1, 5);
        expect_exchange("4x4:cable=+0@5", collective, 2, 1, 5);
        expect_exchange("3mx4m", collective, 2, 1, 5);
    }
}

TEST(FewSteps, BlocksNeedSmallPrimeFactors) {
    EXPECT_FALSE(find_algorithm(allgather, "few-steps").refusal(Torus({11})).empty());
    EXPECT_TRUE(find_algorithm(allreduce, "few-steps").refusal(Torus({11})).empty());
    EXPECT_FALSE(find_algorithm(bcast, "few-steps").refusal(Torus({17, 17})).empty());
}

/// docs/cost-model.md for vectors of no bytes, in hops.
double price(const Algorithm& algorithm, const Torus& torus) {
    const CostSummary all =
        ModelSummaries(torus).of(algorithm, {.pieces = algorithm.abilities.pieces ? 1U : 0U});
    const double stored = algorithm.selection.gathers_contributions ? torus.ranks() - 1
                          : algorithm.selection.stores_sums         ? all.sent
                                                                    : 0;
    return 10 * (all.steps - all.steps_at_once) +
           static_cast<double>(all.sum_hops - all.hops_at_once) +
           5 * (all.max_sends_per_port_per_step - 1 + all.steps_at_once) + stored / 2;
}

// Nobody sends through a link that is down here, as `direct` does, which is cheaper on
// 3x3:cable=+0@4.
TEST(FewSteps, NobodyElseIsCheaperForShortVectors) {
    for (const char* text : {"9", "5x5", "8x8", "4x8", "2x3x4", "3mx4m", "8m", "4x4:cable=+0@5",
                             "4x4:node=5", "4x4:node=5=0.5", "4x8:twist=0=1+4"}) {
        const Torus torus = Torus::parse(text);
        for (const Collective collective : {allreduce, allgather, bcast, reduce}) {
            const double ours = price(find_algorithm(collective, "few-steps"), torus);
            for (const Algorithm& other : algorithms()) {
                if (other.collective == collective && other.traits.identical_results &&
                    !other.traits.reads_peers && !other.selection.only_by_name_on(torus) &&
                    other.refusal(torus).empty()) {
                    EXPECT_LE(ours, price(other, torus) + 1e-9)
                        << to_string(collective) << " on " << text << ": " << other.name;
                }
            }
        }
    }
}

// A rank has one message through a port in each step, and hears before it speaks.
TEST(FewSteps, TreesKeepTheirWord) {
    for (const char* text : {"7", "5x5", "4x4:node=5", "2x2x3:node=1"}) {
        const WayTable ways(Torus::parse(text));
        const FewStepTree tree = find_few_step_tree(ways, 2);
        std::vector<int> reached(to_index(ways.ranks()), tree.steps);
        reached[2] = -1;
        std::map<std::tuple<Rank, Port, int>, int> sent;
        for (const FewStepMessage& m : tree.messages) {
            EXPECT_LT(reached[to_index(m.from)], m.step) << text;
            EXPECT_EQ(reached[to_index(m.to)], tree.steps) << text;
            EXPECT_LE(++sent[std::tuple(m.from, m.port, m.step)], tree.per_port) << text;
            reached[to_index(m.to)] = m.step;
        }
        EXPECT_EQ(std::ssize(tree.messages), ways.ranks() - 1) << text;
    }
}

}  // namespace
}  // namespace trefoil::test::few_steps_test
