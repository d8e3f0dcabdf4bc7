// SPDX-License-Identifier: BSD-3-Clause
// alltoall along the rings of a torus: proofs on tori of all kinds, figures in blocks, bounds, and
// that a block lost or misplaced is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "algorithms/alltoall/partition.hpp"
#include "algorithms/analysis/cost.hpp"
#include "algorithms/analysis/verify.hpp"
#include "algorithms/registry/registry.hpp"
#include "tests/algorithms/registry/proof.hpp"

namespace trefoil::rings_test {
namespace {

constexpr const char* names[] = {"sdx", "direct", "gather-scatter-tree", "t1",  "t4", "c1", "c8",
                                 "c27", "c64",    "partition",           "bine"};
constexpr const char* shapes[] = {
    "1",    "2",   "3",     "4",     "5",     "6",     "7",     "8",       "9",    "16",  "18",
    "1x1",  "1x5", "2x2",   "2x3",   "3x3",   "3x5",   "3x9",   "4x4",     "6x5",  "8x8", "6x10",
    "12x8", "8x9", "3x4x5", "2x2x2", "2x3x4", "3x3x3", "4x4x4", "2x1x5x2", "6x3x3"};

const Algorithm& named(std::string_view name) {
    return find_algorithm(Collective::alltoall, name);
}

CostSummary cost_of(std::string_view name, const char* shape, const BuildOptions& options = {}) {
    return summarize(Torus::parse(shape), named(name), options);
}

/// Of any rank and part, in blocks.
Block most_scratch(std::string_view name, const char* shape, const BuildOptions& options = {}) {
    const Torus torus = Torus::parse(shape);
    Block most = 0;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        for (const Part& part : named(name).build(torus, r, options).parts) {
            most = std::max(most, part.scratch_blocks);
        }
    }
    return most;
}

std::vector<BuildOptions> variants(const Torus& torus, const Algorithm& algorithm) {
    std::vector<BuildOptions> all = {{},
                                     {.rotation = Rotation::whole},
                                     {.single_port = true},
                                     {.radix = 3},
                                     {.radix = 5, .rotation = Rotation::whole},
                                     {.binary = true}};
    std::erase_if(all, [&](const BuildOptions& o) { return !algorithm.refusal(torus, o).empty(); });
    return all;
}

TEST(AlltoallRings, DeliverEveryBlock) {
    for (const char* const shape : shapes) {
        const Torus torus = Torus::parse(shape);
        for (const char* const name : names) {
            for (const BuildOptions& options : variants(torus, named(name))) {
                SCOPED_TRACE(std::string(name) + " on " + shape);
                const Verification proof = verify(torus, named(name), options);
                ASSERT_TRUE(proof.ok()) << proof.errors[0];
            }
        }
    }
}

// Landing zones are sized by it. A vector here is the p blocks of a rank.
TEST(AlltoallRings, ReceiveNoMoreThanTheBound) {
    for (const char* const shape : {"5", "8", "3x5", "8x8", "6x10", "2x3x4", "4x4x4", "6x6x6"}) {
        const Torus torus = Torus::parse(shape);
        for (const char* const name : names) {
            for (const BuildOptions& options : variants(torus, named(name))) {
                SCOPED_TRACE(std::string(name) + " on " + shape);
                const double bound = named(name).landing_vectors(torus, options);
                const double landed = 2 * largest_landing(torus, named(name), options);
                EXPECT_LE(landed, bound * (1 + 1e-9));
                EXPECT_GE(landed, options.rotation == Rotation::whole ? bound / 4 : bound * 0.999);
            }
        }
    }
}

struct Figures {
    const char* name;
    const char* shape;
    int steps;
    double block_times;
    BuildOptions options = {};
};

void expect_figures(const std::vector<Figures>& all) {
    for (const Figures& f : all) {
        const CostSummary cost = cost_of(f.name, f.shape, f.options);
        EXPECT_EQ(cost.steps, f.steps) << f.name << " on " << f.shape;
        EXPECT_DOUBLE_EQ(cost.block_times, f.block_times) << f.name << " on " << f.shape;
    }
}

TEST(AlltoallRings, PlanesMatchThePaper) {
    expect_figures({{"t1", "8x8", 8, 224},
                    {"t1", "16x16", 12, 1440},
                    {"t4", "8x8", 8, 160},
                    {"t4", "16x16", 10, 1152},
                    {"gather-scatter-tree", "8x8", 8, 88},
                    {"gather-scatter-tree", "16x16", 12, 688},
                    {"gather-scatter-tree", "8x8", 8, 224, {.single_port = true}},
                    {"t4", "12x8", 8, 384},
                    {"t4", "6x10", 14, 300}});
}

TEST(AlltoallRings, CubesMatchThePaper) {
    expect_figures({{"c1", "8x8x8", 12, 2688},
                    {"c8", "8x8x8", 12, 1920},
                    {"c64", "8x8x8", 13, 3328},
                    {"c64", "8x8x8", 10, 2560, {.binary = true}}});
}

// n^(D+1) / 8, which no alltoall can undercut.
TEST(AlltoallRings, DigitsMeetTheBisectionBound) {
    expect_figures({{"sdx", "8x8", 4, 64},
                    {"sdx", "16x16", 6, 512},
                    {"sdx", "16x16", 4, 512, {.radix = 4}},
                    {"direct", "16x16", 2, 512},
                    {"sdx", "16x16", 6, 512, {.rotation = Rotation::whole}},
                    {"sdx", "12x8", 6, 144},
                    {"sdx", "6x5", 4, 25},
                    {"sdx", "6x5", 4, 28, {.rotation = Rotation::whole}},
                    {"sdx", "3x9", 6, 30}});
}

// A dimension of two has two links, and each block crosses one of them with half of it.
TEST(AlltoallRings, PairsOfCoordinatesUseBothLinks) {
    struct Bound {
        const char* shape;
        double load;  ///< of a vector: of the busiest dimension, if all of its links carry alike
    };
    for (const auto& [shape, load] :
         {Bound{"2", 0.25}, Bound{"2x2", 0.25}, Bound{"2x2x2", 0.25}, Bound{"2x2x2h", 0.5},
          Bound{"2x3", 1.0 / 3}, Bound{"3x2x2", 1.0 / 3}, Bound{"2x3x4h", 4.0 / 3}}) {
        for (const char* const name : {"sdx", "direct"}) {
            EXPECT_NEAR(cost_of(name, shape).sum_link_load, load, 1e-12) << name << " on " << shape;
        }
    }
    EXPECT_NEAR(cost_of("sdx", "2m").sum_link_load, 0.5, 1e-12) << "a line has one link";
}

// Each of a stage's steps with the next best one of the other dimensions.
TEST(AlltoallRings, ShorterRingsRestWhereTheyCostLeast) {
    expect_figures({{"gather-scatter-tree", "2x4", 4, 6},
                    {"gather-scatter-tree", "4x8", 8, 44},
                    {"gather-scatter-tree", "12x8", 10, 208},
                    {"gather-scatter-tree", "3x4x5", 6, 39},
                    {"gather-scatter-tree", "4x4x8", 12, 176},
                    {"sdx", "3x9", 6, 30}});
}

// Short rings pass on from neighbour to neighbour, unless trees fit better beside a longer ring.
TEST(AlltoallRings, TreesGiveWayOnShortRings) {
    expect_figures({{"gather-scatter-tree", "3x4", 4, 7},
                    {"gather-scatter-tree", "4x4x4", 6, 32},
                    {"gather-scatter-tree", "9", 4, 10},
                    {"gather-scatter-tree", "9x9", 8, 90},
                    {"gather-scatter-tree", "10x13", 12, 217},
                    {"gather-scatter-tree", "7x8", 8, 78},
                    {"gather-scatter-tree", "11x12", 10, 288}});
}

// Smaller digits, and more steps, where those of a longer ring leave room.
TEST(AlltoallRings, DigitsOfShorterRingsFitBesideTheLongest) {
    expect_figures({{"sdx", "6x10", 4, 78, {.radix = 4}},
                    {"sdx", "6x10", 4, 78, {.radix = 4, .rotation = Rotation::whole}},
                    {"sdx", "12x8", 4, 144, {.radix = 4}},
                    {"sdx", "8x9", 6, 86},
                    {"sdx", "3x4x5", 6, 39},
                    {"sdx", "4x5x5", 6, 65}});
}

TEST(AlltoallRings, SendFewMessages) {
    EXPECT_EQ(cost_of("direct", "16x16").messages_per_rank, 60);
    EXPECT_EQ(cost_of("sdx", "16x16", {.radix = 4}).messages_per_rank, 36);
    EXPECT_EQ(cost_of("sdx", "16x16").messages_per_rank, 28);
    EXPECT_EQ(cost_of("gather-scatter-tree", "16x16").messages_per_rank, 32);
    EXPECT_EQ(cost_of("t4", "16x16").messages_per_rank, 10);
}

TEST(AlltoallRings, BineOnATorusAndInLine) {
    expect_figures({{"bine", "16x16", 8, 896}, {"bine", "16x16", 8, 2816, {.single_port = true}}});
}

TEST(AlltoallRings, OnePortMeansOneMessageEachWay) {
    for (const auto& [name, shape] : {std::pair{"gather-scatter-tree", "7x6"},
                                      {"t4", "8x6"},
                                      {"c27", "6x3x9"},
                                      {"c64", "4x8x4"},
                                      {"partition", "12x6"}}) {
        const Torus torus = Torus::parse(shape);
        for (BuildOptions options : variants(torus, named(name))) {
            options.single_port = named(name).abilities.single_port;
            for (Rank r = 0; r < torus.ranks(); ++r) {
                for (const Step& step : named(name).build(torus, r, options).steps) {
                    ASSERT_LE(step.sends.count, 1U) << name << " on " << shape;
                    ASSERT_LE(step.receives.count, 1U) << name << " on " << shape;
                }
            }
        }
    }
}

// Hubs hold many blocks. What is there in passing shares scratch that is little more.
TEST(AlltoallRings, ScratchIsNearThePeak) {
    const BuildOptions one_port{.single_port = true};
    for (const auto& [shape, held] :
         {std::pair{"16", 17.0}, {"32", 51.0}, {"64", 183.0}, {"128", 727.0}}) {
        EXPECT_DOUBLE_EQ(cost_of("gather-scatter-tree", shape, one_port).peak_blocks_held, held);
        EXPECT_LE(most_scratch("gather-scatter-tree", shape, one_port), 1.35 * held) << shape;
    }
    for (const char* const name : {"sdx", "direct", "t4", "gather-scatter-tree", "bine"}) {
        const double held = cost_of(name, "8x8").peak_blocks_held;
        EXPECT_LE(most_scratch(name, "8x8"), 1.2 * held) << name;
    }
}

// First the sender's own, by target; then an extent for each step in which others came.
TEST(AlltoallRings, MessagesAreOwnBlocksAndAnExtentPerStep) {
    const Torus torus = Torus::parse("8x8");
    for (const char* const name : names) {
        if (!named(name).refusal(torus).empty()) {
            continue;
        }
        const Schedule schedule = named(name).build(torus, 21);
        for (const Part& part : schedule.parts) {
            std::size_t step = 0;
            for (const Step& s : schedule.of(part)) {
                for (const Send& send : schedule.sends_of(s)) {
                    const auto extents = schedule.extents_of(send);
                    const auto passed_on = std::ranges::partition_point(
                        extents, [&](Extent e) { return e.first < 64; });
                    EXPECT_LE(extents.end() - passed_on, static_cast<std::ptrdiff_t>(step));
                    EXPECT_TRUE(std::is_sorted(
                        extents.begin(), passed_on,
                        [](Extent one, Extent other) { return one.first < other.first; }));
                    EXPECT_TRUE(std::all_of(passed_on, extents.end(),
                                            [](Extent e) { return e.first >= 128; }));
                }
                ++step;
            }
        }
    }
}

TEST(AlltoallRings, PartitionIsTheCheapest) {
    for (const char* const shape : {"8x8", "12x8", "6x10", "8x8x8", "3x9", "4x12", "7x6", "24"}) {
        const Torus torus = Torus::parse(shape);
        const CostSummary chosen = cost_of("partition", shape);
        std::vector<Rank> best = cheapest_partition(torus, false).ways;
        double least = std::numeric_limits<double>::max();
        for (const char* const name : {"t1", "t4", "c1", "c8", "c27", "c64"}) {
            if (named(name).refusal(torus).empty()) {
                least = std::min(least, cost_of(name, shape).block_times);
            }
        }
        EXPECT_LE(chosen.block_times, least) << shape;
        EXPECT_EQ(best.size(), static_cast<std::size_t>(torus.dimensions()));
    }
    EXPECT_EQ(cheapest_partition(Torus::parse("16x16"), false).ways, (std::vector<Rank>{2, 2}));
    EXPECT_EQ(cheapest_partition(Torus::parse("7x5"), false).ways, (std::vector<Rank>{1, 1}));
    EXPECT_EQ(cheapest_partition(Torus::parse("4"), false).ways, std::vector<Rank>{1});
}

TEST(AlltoallRings, RefusalsNameTheDimension) {
    EXPECT_NE(named("bine").refusal(Torus::parse("8x12")).find("dimension 1 has 12"),
              std::string::npos);
    EXPECT_NE(named("t4").refusal(Torus::parse("7x8")).find("dimension 0 has 7"),
              std::string::npos);
    EXPECT_NE(named("gather-scatter-tree").refusal(Torus::parse("2x1025")).find("dimension 1"),
              std::string::npos);
    EXPECT_EQ(named("t4").refusal(Torus::parse("2x2048")), "");
    EXPECT_NE(named("c8").refusal(Torus::parse("8x8")).find("3 dimensions"), std::string::npos);
    EXPECT_NE(named("t4").refusal(Torus::parse("8x8"), {.binary = true}), "");
}

class Mutations : public ::testing::TestWithParam<const char*> {
  protected:
    Mutations() {
        for (Rank r = 0; r < torus_.ranks(); ++r) {
            all_.push_back(named(GetParam()).build(torus_, r));
        }
    }
    bool accepted() const { return verify(torus_, Collective::alltoall, all_).ok(); }

    Torus torus_ = Torus::parse("4x4");
    std::vector<Schedule> all_;
};

TEST_P(Mutations, OfEveryExtentAreFound) {
    ASSERT_TRUE(accepted());
    Schedule& one = all_[6];
    for (Extent& extent : one.extents) {
        const Extent right = extent;
        extent.count -= 1;  // a block is lost
        EXPECT_FALSE(accepted());
        extent = {right.first == 3 ? 5U : 3U, right.count};  // another one, or a wrong place
        EXPECT_FALSE(accepted());
        extent = right;
    }
    for (std::size_t i = 0; i + 1 < one.extents.size(); ++i) {
        if (one.extents[i].count == one.extents[i + 1].count) {
            std::swap(one.extents[i], one.extents[i + 1]);
            EXPECT_FALSE(accepted()) << "extents " << i << " and " << i + 1 << " swapped";
            std::swap(one.extents[i], one.extents[i + 1]);
        }
    }
    EXPECT_TRUE(accepted());
}

INSTANTIATE_TEST_SUITE_P(Alltoalls, Mutations,
                         testing::Values("sdx", "direct", "gather-scatter-tree", "t4", "bine"));

}  // namespace
}  // namespace trefoil::rings_test
