// SPDX-License-Identifier: BSD-3-Clause
// What is there to compare with: variants as their papers have them, proved, with known loads.
#include <gtest/gtest.h>

#include <vector>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/registry/registry.hpp"

namespace trefoil::published_test {
namespace {

CostSummary cost_of(std::string_view name, const std::string& shape,
                    Collective collective = Collective::allreduce,
                    const BuildOptions& options = {}) {
    return summarize(Torus::parse(shape), find_algorithm(collective, name), options);
}

double load_of(std::string_view name, const std::string& shape) {
    return cost_of(name, shape).sum_link_load;
}

TEST(Published, RunsOnlyByName) {
    for (const char* name : {"recursive-doubling-torus-l", "recursive-doubling-torus-b",
                             "bruck-l-one-way", "swing-published", "trinaryx"}) {
        EXPECT_EQ(find_algorithm(Collective::allreduce, name).selection.most_ranks, 0) << name;
    }
}

TEST(RecursiveDoublingTorus, HasTheKnownLoads) {
    EXPECT_DOUBLE_EQ(load_of("recursive-doubling-torus-l", "8x8"), 10);
    EXPECT_DOUBLE_EQ(load_of("recursive-doubling-torus-l", "64x64"), 94);
    EXPECT_DOUBLE_EQ(load_of("recursive-doubling-torus-l", "8x8x8"), 15);
    EXPECT_DOUBLE_EQ(load_of("recursive-doubling-torus-b", "8x8"), 2.4375);
    EXPECT_NEAR(load_of("recursive-doubling-torus-b", "64x64"), 2.9297, 5e-5);
    EXPECT_NEAR(load_of("recursive-doubling-torus-b", "8x8x8"), 2.2422, 5e-5);
}

// In line order a dimension is finished at full distance before the other begins to halve.
TEST(RecursiveDoublingTorus, HasLessLoadThanInLineOrder) {
    const BuildOptions one_port{.single_port = true};
    const double line =
        cost_of("recursive-doubling-b", "8x8", Collective::allreduce, one_port).sum_link_load;
    EXPECT_DOUBLE_EQ(line, 2.8125);
}

// Distances 3^k and 2 * 3^k, as published, on powers of three.
TEST(BruckLOneWay, HasTheKnownLoads) {
    EXPECT_DOUBLE_EQ(load_of("bruck-l-one-way", "8"), 6);
    EXPECT_DOUBLE_EQ(load_of("bruck-l-one-way", "27"), 21);
    EXPECT_DOUBLE_EQ(load_of("bruck-l-one-way", "81"), 66);
    EXPECT_EQ(cost_of("bruck-l-one-way", "27").step_max_hops, (std::vector<int>{2, 6, 9}));
    EXPECT_DOUBLE_EQ(load_of("bruck-l-one-way", "9x9"), 2 * load_of("bruck-l-one-way", "9") / 2);
}

TEST(SwingPublished, HasTheKnownLoads) {
    EXPECT_NEAR(load_of("swing-published", "129"), 3.419, 5e-4);
    EXPECT_GT(load_of("swing-published", "129"), load_of("swing-b", "129"));
    EXPECT_NEAR(cost_of("swing-published", "129").bytes_sent_max, 2 * 128.0 / 129, 1e-9);
    EXPECT_FALSE(find_algorithm(Collective::allreduce, "swing-published")
                     .refusal(Torus::parse("8x4"))
                     .empty());
}

TEST(Trinaryx, PassesEachPieceUpAndDown) {
    const BuildOptions pieces{.pieces = 10};
    const CostSummary cost = cost_of("trinaryx", "4x4x4", Collective::allreduce, pieces);
    const int depth = 4 - 1 + 2 + 2;
    EXPECT_EQ(cost.steps, 2 * depth + 10 - 1);
    for (const int hops : cost.step_max_hops) {
        EXPECT_LE(hops, 1);
    }
    // A link has a piece up and another down in a step at most, of 60 pieces.
    for (const double load : cost.step_max_link_load) {
        EXPECT_LE(load, 2.0 / 60 + 1e-12);
    }
}

// Fig. 16 of the paper, 4x4, from rank 0: to (0,3), (3,0), (0,1), (1,0).
TEST(BineTorus, GoesWhereThePaperSays) {
    const Torus torus = Torus::parse("4x4");
    const Schedule schedule = find_algorithm(Collective::bcast, "bine-torus-dh").build(torus, 0);
    std::vector<Rank> peers;
    for (const Send& send : schedule.sends) {
        peers.push_back(send.peer);
    }
    EXPECT_EQ(peers, (std::vector<Rank>{3, 12, 1, 4}));
}

TEST(BineTorus, SendsThroughOnePort) {
    for (const char* shape : {"8x8", "4x8", "3x5", "4x4x4"}) {
        for (const Collective collective :
             {Collective::reduce_scatter, Collective::allgather, Collective::bcast,
              Collective::reduce, Collective::gather, Collective::scatter}) {
            const Algorithm& algorithm = find_algorithm(collective, "bine-torus-dh");
            const Torus torus = Torus::parse(shape);
            for (Rank r = 0; r < torus.ranks(); ++r) {
                const Schedule schedule = algorithm.build(torus, r);
                ASSERT_EQ(schedule.parts.size(), 1u);
                for (const Step& step : schedule.steps) {
                    EXPECT_LE(step.sends.count, 1u) << shape << " " << to_string(collective);
                    EXPECT_LE(step.receives.count, 1u) << shape << " " << to_string(collective);
                }
            }
        }
    }
}

}  // namespace
}  // namespace trefoil::published_test
