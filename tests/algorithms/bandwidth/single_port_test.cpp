// SPDX-License-Identifier: BSD-3-Clause
// Single-port variants: one message at a time, the steps, hops and loads as published, and a clear
// refusal of all others. That they are correct on every shape the table's proofs tell.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/registry/registry.hpp"
#include "tests/algorithms/registry/proof_shapes.hpp"

namespace trefoil::single_port_test {
namespace {

using enum Collective;

constexpr BuildOptions one_port{.single_port = true};

CostSummary cost(const std::string& shape, Collective collective, const char* name) {
    return summarize(Torus::parse(shape), find_algorithm(collective, name), one_port);
}

std::vector<std::string> shapes() {
    std::vector<std::string> all = rings(1, 33);
    for (const std::string& torus : small_tori()) {
        all.push_back(torus);
    }
    all.emplace_back("8x8");
    return all;
}

TEST(SinglePort, IsThereWhereItIsPublished) {
    const std::map<Collective, std::set<std::string_view>> published = {
        {allreduce,
         {"ring", "bucket", "swing-l", "swing-b", "recursive-doubling-l", "recursive-doubling-i",
          "recursive-doubling-b", "bine-small", "bine-large", "bine-fold", "linear"}},
        {reduce_scatter,
         {"ring", "bucket", "swing", "recursive-halving", "bine", "bine-dh", "bine-fold"}},
        {allgather,
         {"ring", "bucket", "swing", "recursive-doubling", "bine", "bine-dh", "bine-fold"}},
        {bcast, {"bine-dd", "bine-dh", "binomial-dd", "binomial-dh", "bine-large", "linear"}},
        {reduce, {"bine-dd", "bine-dh", "binomial-dd", "binomial-dh", "bine-large", "linear"}},
        {gather, {"bine-dd", "bine-dh", "binomial-dd", "binomial-dh", "linear"}},
        {scatter, {"bine-dd", "bine-dh", "binomial-dd", "binomial-dh", "linear"}},
        {alltoall, {"bine", "gather-scatter-tree"}},
        {barrier, {"dissemination", "linear"}}};
    for (const auto& [collective, names] : published) {
        for (const std::string_view name : names) {
            EXPECT_EQ(find_algorithm(collective, name).refusal(Torus({4, 4}), one_port), "");
        }
    }
}

TEST(SinglePort, IsRefusedWithWhatToTakeInstead) {
    const Algorithm& trivance = find_algorithm(allreduce, "trivance-b");
    EXPECT_EQ(trivance.refusal(Torus({9}), one_port),
              "trivance-b has no single-port variant; leave single-port out, or take an "
              "algorithm that has it: `trefoil info -v` lists which do");
}

// Two-transmissions, a layout, is the exception on odd sizes.
TEST(SinglePort, SendsOneMessageAtATimeAndReceivesOne) {
    for (const Algorithm& a : algorithms()) {
        for (const std::string& shape : shapes()) {
            const Torus torus = Torus::parse(shape);
            if (!a.refusal(torus, one_port).empty()) {
                continue;
            }
            for (Rank r = 0; r < torus.ranks(); ++r) {
                const Schedule s = a.build(torus, r, one_port);
                ASSERT_EQ(s.parts.size(), 1u);
                for (const Step& step : s.steps) {
                    ASSERT_LE(step.sends.count, 1u) << a.name << " on " << shape;
                    ASSERT_LE(step.receives.count, 1u) << a.name << " on " << shape;
                }
            }
        }
    }
}

// Butterflies: with whom a rank exchanges it does so both ways.
TEST(SinglePort, ExchangesWithOneRankInAStep) {
    for (const Algorithm& a : algorithms()) {
        const bool butterfly = a.name.starts_with("bine") || a.name.starts_with("swing") ||
                               a.name.starts_with("recursive");
        if (!butterfly || traits_of(a.collective).rooted()) {
            continue;
        }
        for (const char* shape : {"12", "13", "4x4", "3x5", "2x3x3"}) {
            const Torus torus = Torus::parse(shape);
            if (!a.refusal(torus, one_port).empty()) {
                continue;
            }
            for (Rank r = 0; r < torus.ranks(); ++r) {
                const Schedule s = a.build(torus, r, one_port);
                for (const Step& step : s.steps) {
                    if (step.sends.count + step.receives.count == 2) {
                        ASSERT_EQ(s.sends_of(step)[0].peer, s.receives_of(step)[0].peer)
                            << a.name << " on " << shape;
                    }
                }
            }
        }
    }
}

TEST(SinglePort, RingGoesOneWayRound) {
    const CostSummary both = cost("9", allreduce, "ring");
    EXPECT_EQ(both.steps, 16);
    EXPECT_DOUBLE_EQ(both.bytes_sent_max, 16.0 / 9);
    for (const double load : both.step_max_link_load) {
        EXPECT_DOUBLE_EQ(load, 1.0 / 9);
    }
    EXPECT_EQ(cost("9", allgather, "ring").steps, 8);
    const Schedule schedule = find_algorithm(reduce_scatter, "ring").build(Torus({9}), 4, one_port);
    for (const Send& s : schedule.sends) {
        EXPECT_EQ(s.peer, 5);
        EXPECT_EQ(s.port, Port::plus(0));
    }
}

// The first dimension cuts the vector, the second one what is left.
TEST(SinglePort, BucketTakesOneDimensionAfterTheOther) {
    const CostSummary bucket = cost("3x5", reduce_scatter, "bucket");
    EXPECT_EQ(bucket.steps, 2 + 4);
    EXPECT_DOUBLE_EQ(bucket.bytes_sent_max, 14.0 / 15);
    const std::vector<double> loads = {1.0 / 3, 1.0 / 3, 1.0 / 15, 1.0 / 15, 1.0 / 15, 1.0 / 15};
    ASSERT_EQ(bucket.step_max_link_load.size(), loads.size());
    for (std::size_t s = 0; s < loads.size(); ++s) {
        EXPECT_NEAR(bucket.step_max_link_load[s], loads[s], 1e-12);
    }
    EXPECT_EQ(cost("3x5", allreduce, "bucket").steps, 12);
}

// Swing alternates between the dimensions, rho = 1, -1, 3, ... in each.
TEST(SinglePort, SwingTakesDimensionsInTurn) {
    EXPECT_EQ(cost("64", allreduce, "swing-l").step_max_hops,
              (std::vector<int>{1, 1, 3, 5, 11, 21}));
    EXPECT_EQ(cost("8x8", allreduce, "swing-l").step_max_hops,
              (std::vector<int>{1, 1, 1, 1, 3, 3}));
    EXPECT_EQ(cost("2x8", reduce_scatter, "swing").step_max_hops, (std::vector<int>{1, 1, 1, 3}));
    EXPECT_EQ(cost("8x8", allreduce, "swing-b").bytes_sent_max, 2 * 63.0 / 64);
}

// r xor 2^k on ranks in linear order: in 4x4 the last dimension is first.
TEST(SinglePort, RecursiveDoublingIsTheHypercubeOfRanks) {
    for (const char* name : {"recursive-doubling-l", "recursive-doubling-i"}) {
        const Schedule schedule = find_algorithm(allreduce, name).build(Torus({4, 4}), 5, one_port);
        std::vector<Rank> peers;
        for (const Send& s : schedule.sends) {
            peers.push_back(s.peer);
        }
        EXPECT_EQ(peers, (std::vector<Rank>{5 ^ 1, 5 ^ 2, 5 ^ 4, 5 ^ 8}));
    }
    const Schedule halves =
        find_algorithm(reduce_scatter, "recursive-halving").build(Torus({4, 4}), 5, one_port);
    for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_EQ(halves.sends[k].peer, 5 ^ (1 << k));
        EXPECT_EQ(block_count(halves.extents_of(halves.sends[k])), 8u >> k);
    }
}

TEST(SinglePort, TakesTwoStepsMoreWhereItFolds) {
    for (Rank n = 2; n <= 40; ++n) {
        const int floor = std::bit_width(static_cast<std::uint32_t>(n)) - 1;
        const bool folds = (Rank{1} << floor) != n;
        const std::string shape = std::to_string(n);
        EXPECT_EQ(cost(shape, allreduce, "recursive-doubling-l").steps, floor + (folds ? 2 : 0));
        EXPECT_EQ(cost(shape, allreduce, "recursive-doubling-b").steps,
                  2 * floor + (folds ? 2 : 0));
        EXPECT_EQ(cost(shape, reduce_scatter, "recursive-halving").steps, floor + (folds ? 2 : 0));
        const int swing = n % 2 == 1 ? floor + 2 : floor + (folds ? 1 : 0);
        EXPECT_EQ(cost(shape, reduce_scatter, "swing").steps, swing) << n;
    }
}

}  // namespace
}  // namespace trefoil::single_port_test
