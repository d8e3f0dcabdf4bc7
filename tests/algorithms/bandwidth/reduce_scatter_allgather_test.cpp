// SPDX-License-Identifier: BSD-3-Clause
// reduce_scatter and allgather: volumes, steps and loads of the table's entries, and the ordered
// pair. That they are correct is proved with the table (table_proof).
#include <gtest/gtest.h>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/analysis/verify.hpp"
#include "algorithms/bandwidth/direct.hpp"
#include "algorithms/registry/registry.hpp"
#include "algorithms/schedule/straight_offsets.hpp"

namespace trefoil::reduce_scatter_allgather_test {
namespace {

constexpr auto shapes = {"2", "5", "8", "9", "4x4", "3x5", "2x2x2", "2x3x4", "8x8", "12x7"};

TEST(ReduceScatterAllgather, ReduceScattersMoveEachBlockOnce) {
    for (const char* name :
         {"trivance", "swing", "recursive-halving", "bucket", "ring", "direct"}) {
        for (const char* shape : shapes) {
            SCOPED_TRACE(std::string(name) + " on " + shape);
            const Torus torus = Torus::parse(shape);
            const CostSummary summary =
                summarize(torus, find_algorithm(Collective::reduce_scatter, name));
            EXPECT_NEAR(summary.bytes_sent_max, 1 - 1.0 / torus.ranks(), 1e-12);
            EXPECT_NEAR(summary.bytes_sent_min, 1 - 1.0 / torus.ranks(), 1e-12);
        }
    }
}

// Each phase is half of the allreduce, in steps and load.
TEST(ReduceScatterAllgather, TheTwoPhasesMakeUpTheAllreduce) {
    struct Names {
        const char *allreduce, *reduce_scatter, *allgather;
    };
    for (const Names& n :
         {Names{"trivance-b", "trivance", "trivance"}, Names{"swing-b", "swing", "swing"},
          Names{"recursive-doubling-b", "recursive-halving", "recursive-doubling"},
          Names{"bucket", "bucket", "bucket"}, Names{"ring", "ring", "ring"}}) {
        for (const char* shape : shapes) {
            SCOPED_TRACE(std::string(n.allreduce) + " on " + shape);
            const Torus torus = Torus::parse(shape);
            const auto cost = [&](Collective collective, const char* name) {
                return summarize(torus, find_algorithm(collective, name));
            };
            const CostSummary whole = cost(Collective::allreduce, n.allreduce);
            const CostSummary first = cost(Collective::reduce_scatter, n.reduce_scatter);
            const CostSummary second = cost(Collective::allgather, n.allgather);
            EXPECT_EQ(first.steps + second.steps, whole.steps);
            EXPECT_NEAR(first.sum_link_load + second.sum_link_load, whole.sum_link_load, 1e-12);
            EXPECT_NEAR(first.bytes_sent_total + second.bytes_sent_total, whole.bytes_sent_total,
                        1e-9);
        }
    }
}

TEST(ReduceScatterAllgather, TrivanceLoadsOfOnePhase) {
    const auto load = [](const char* shape) {
        return summarize(Torus::parse(shape),
                         find_algorithm(Collective::reduce_scatter, "trivance"))
            .sum_link_load;
    };
    EXPECT_LE(load("8"), 0.75);
    EXPECT_LE(load("16"), 0.875);
    EXPECT_LE(load("32"), 1.0);
    EXPECT_LE(load("64"), 1.375);
}

TEST(Direct, LoadsAllLinksAlike) {
    // Everybody to everybody: on an even ring d^2/8 hops each way and rank, blocks of 1/d.
    for (const Collective collective : {Collective::reduce_scatter, Collective::allgather}) {
        const Algorithm& direct = find_algorithm(collective, "direct");
        EXPECT_NEAR(summarize(Torus({8}), direct).sum_link_load, 1.0, 1e-12);
        EXPECT_NEAR(summarize(Torus({2}), direct).sum_link_load, 0.25, 1e-12);
        EXPECT_NEAR(summarize(Torus({3, 3}), direct).sum_link_load, 1.0 / 3, 1e-12);
        // In 2 and 8 steps instead of one, which would have 1 and 2.
        EXPECT_NEAR(summarize(Torus({8, 8}), direct).sum_link_load, 1.0, 0.05);
        EXPECT_NEAR(summarize(Torus({16, 16}), direct).sum_link_load, 2.0, 0.08);
    }
}

TEST(Direct, SendsOneMessageToEachRankAndToAFewInEachStep) {
    for (const Collective collective :
         {Collective::reduce_scatter, Collective::allgather, Collective::allreduce}) {
        const Torus torus({10, 10});
        const Schedule schedule = find_algorithm(collective, "direct").build(torus, 37);
        ASSERT_EQ(schedule.parts.size(), 1U);
        Rank sent = 0;
        for (const Step& step : schedule.of(schedule.parts[0])) {
            EXPECT_LE(step.sends.count, static_cast<std::uint32_t>(straight_peers_per_step));
            EXPECT_EQ(step.sends.count, step.receives.count);
            sent += static_cast<Rank>(step.sends.count);
        }
        EXPECT_EQ(sent, torus.ranks() - 1);
    }
}

TEST(Direct, SharesPorts) {
    // 3x3, seen from any rank: each of the four ports leads to as many as any other.
    const Torus torus({3, 3});
    const Schedule schedule = build_direct_allgather(torus, 4);
    std::vector<int> messages(torus.ports(), 0);
    for (const Send& s : schedule.sends) {
        messages[s.port.index] += 1;
    }
    EXPECT_EQ(messages, std::vector<int>(4, 2));
    // On a tie half of the ranks go either way.
    const Torus pair({2});
    EXPECT_NE(build_direct_allgather(pair, 0).sends.at(0).port,
              build_direct_allgather(pair, 1).sends.at(0).port);
}

TEST(Ordered, ReducesInRankOrderWhateverTheShape) {
    for (const char* shape : shapes) {
        const Torus torus = Torus::parse(shape);
        for (const auto& [collective, name] : {std::pair{Collective::reduce_scatter, "direct"},
                                               {Collective::allreduce, "direct"},
                                               {Collective::allreduce, "ordered"}}) {
            const Verification proof = verify(torus, find_algorithm(collective, name));
            ASSERT_TRUE(proof.ok()) << proof.errors[0];
            EXPECT_TRUE(proof.order_preserving) << name << " on " << shape;
            EXPECT_TRUE(proof.identical_results) << name << " on " << shape;
        }
    }
}

}  // namespace
}  // namespace trefoil::reduce_scatter_allgather_test
