// SPDX-License-Identifier: BSD-3-Clause
// alltoall by linear, pairwise, orbit and bruck: proofs, figures in blocks, and that the verifier
// misses neither a lost block nor two that are swapped.
#include <gtest/gtest.h>

#include <array>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/analysis/verify.hpp"
#include "algorithms/registry/registry.hpp"

namespace trefoil::shifts_test {
namespace {

constexpr const char* names[] = {"linear", "pairwise", "orbit", "bruck"};
constexpr const char* shapes[] = {"1",     "2",   "3",     "5",     "6",      "8",   "9",
                                  "2x2",   "2x3", "3x3",   "3x5",   "4x4",    "6x6", "2x2x2",
                                  "3x3x3", "1x5", "2x3x4", "4x4x4", "2x2x2x2"};

const Algorithm& named(std::string_view name) {
    return find_algorithm(Collective::alltoall, name);
}

CostSummary cost_of(std::string_view name, const char* shape, const BuildOptions& options = {}) {
    return summarize(Torus::parse(shape), named(name), options);
}

TEST(AlltoallShifts, DeliverEveryBlock) {
    for (const char* const shape : shapes) {
        const Torus torus = Torus::parse(shape);
        for (const char* const name : names) {
            if (!named(name).refusal(torus).empty()) {
                continue;
            }
            const Verification proof = verify(torus, named(name));
            EXPECT_TRUE(proof.ok()) << name << " on " << shape << ": " << proof.errors[0];
        }
    }
}

TEST(AlltoallShifts, BruckTakesAnyRadixAndNumberOfPorts) {
    for (const char* const shape : {"5", "8", "9", "3x5", "4x4", "2x3x4"}) {
        for (const int radix : {2, 3, 4, 7}) {
            for (const int ports : {1, 2, 3}) {
                const Torus torus = Torus::parse(shape);
                const BuildOptions options{.radix = radix, .ports = ports};
                EXPECT_TRUE(verify(torus, named("bruck"), options).ok())
                    << shape << ", radix " << radix << ", " << ports << " ports";
            }
        }
    }
    EXPECT_EQ(cost_of("bruck", "9", {.radix = 3, .ports = 2}).steps, 2);
    EXPECT_EQ(cost_of("bruck", "9", {.radix = 3}).steps, 4);
}

// Blocks of different sizes: with nowhere to wait they go straight, as the proof has seen them
// arrive.
TEST(AlltoallShifts, KeepNothingWhereBlocksMayDiffer) {
    int uneven = 0;
    for (const Algorithm& a : algorithms()) {
        uneven += a.traits.vector_variant ? 1 : 0;
        const Torus torus = Torus::parse("4x4");
        for (Rank r = 0; a.traits.vector_variant && r < torus.ranks(); ++r) {
            for (const Part& part : a.build(torus, r).parts) {
                EXPECT_EQ(part.scratch_blocks, 0U) << a.name;
            }
        }
    }
    EXPECT_GT(uneven, 0);
}

// Landing zones are sized by it: no channel may get more.
TEST(AlltoallShifts, ReceiveNoMoreThanTheBound) {
    for (const char* const shape : shapes) {
        const Torus torus = Torus::parse(shape);
        for (const int radix : {0, 3}) {
            const BuildOptions options{.radix = radix};
            const double bound = named("bruck").landing_vectors(torus, options);
            std::uint64_t most = 0;
            const Schedule schedule = named("bruck").build(torus, 0, options);
            for (const Send& send : schedule.sends) {  // to each peer once
                most = std::max(most, block_count(schedule.extents_of(send)));
            }
            EXPECT_NEAR(bound * torus.ranks(), static_cast<double>(most), 1e-9) << shape;
        }
    }
}

TEST(AlltoallShifts, CostWhatIsKnown) {
    struct Row {
        const char* name;
        int steps, messages;
        double block_times;
    };
    for (const Row row : {Row{"linear", 8, 255, 531}, Row{"pairwise", 255, 255, 987},
                          Row{"bruck", 8, 8, 2816}, Row{"orbit", 64, 255, 512}}) {
        const CostSummary cost = cost_of(row.name, "16x16");
        EXPECT_EQ(cost.steps, row.steps) << row.name;
        EXPECT_EQ(cost.messages_per_rank, row.messages) << row.name;
        EXPECT_DOUBLE_EQ(cost.block_times, row.block_times) << row.name;
        EXPECT_DOUBLE_EQ(cost.peak_blocks_held, 255) << row.name;
    }
    for (const Rank n : {2, 3, 5, 6, 7, 8}) {
        const std::string shape = std::to_string(n) + "x" + std::to_string(n);
        const double bisection = (n % 2 == 0 ? n * n : n * n - 1) * n / 8.0;
        EXPECT_NEAR(cost_of("orbit", shape.c_str()).block_times, bisection, 1e-9) << n;
    }
}

// A message per port and step; orbits of fewer offsets share steps.
TEST(AlltoallShifts, OrbitsFillAllPorts) {
    for (const char* const shape :
         {"2", "7", "8", "2x2", "3x3", "4x4", "5x5", "6x6", "8x8", "9x9", "2x2x2", "3x3x3", "4x4x4",
          "5x5x5", "6x6x6", "7x7x7", "3x3x3x3", "4x4x4x4"}) {
        const Torus torus = Torus::parse(shape);
        const CostSummary cost = cost_of("orbit", shape);
        EXPECT_EQ(cost.steps, (torus.ranks() - 2) / torus.ports() + 1) << shape;
        EXPECT_EQ(cost.max_sends_per_port_per_step, 1) << shape;
    }
}

TEST(AlltoallShifts, MeasureMessagesAndRanks) {
    const CostSummary direct = cost_of("pairwise", "5");  // four steps of one block
    EXPECT_DOUBLE_EQ(direct.msg_block_times, 4);
    EXPECT_DOUBLE_EQ(direct.rank_block_times, 4);
    const CostSummary bruck = cost_of("bruck", "5");  // offsets 1 3, 2 3, 4
    EXPECT_DOUBLE_EQ(bruck.msg_block_times, 5);
    EXPECT_DOUBLE_EQ(bruck.sum_link_load, bruck.block_times / 5);
    EXPECT_DOUBLE_EQ(bruck.bytes_sent_max, 1);
}

TEST(AlltoallShifts, OrbitNeedsEqualSizes) {
    EXPECT_NE(named("orbit").refusal(Torus::parse("3x4")), "");
    EXPECT_EQ(named("orbit").refusal(Torus::parse("4x4x4")), "");
}

class Mutations : public ::testing::Test {
  protected:
    Mutations() {
        for (Rank r = 0; r < torus_.ranks(); ++r) {
            all_.push_back(named("bruck").build(torus_, r));
        }
    }
    bool accepted() const { return verify(torus_, Collective::alltoall, all_).ok(); }

    Torus torus_ = Torus::parse("2x3");
    std::vector<Schedule> all_;
};

TEST_F(Mutations, AreFound) {
    ASSERT_TRUE(accepted());
    const std::vector<Schedule> whole = all_;
    for (std::size_t i = 0; i < all_[2].extents.size(); ++i) {
        for (const Block other : {Block{0}, Block{7}, Block{12}, Block{15}}) {
            if (all_[2].extents[i].first != other) {
                all_[2].extents[i].first = other;
                EXPECT_FALSE(accepted()) << "extent " << i << " at " << other;
                all_ = whole;
            }
        }
    }
    for (Extent& e : all_[3].extents) {
        ++e.count;
        EXPECT_FALSE(accepted());
        --e.count;
    }
    all_[1].steps[0].sends.count = 0;
    EXPECT_FALSE(accepted());
}

TEST_F(Mutations, OfTheInputAreFound) {
    ScheduleWriter idle(0);
    idle.part(2 * 6);
    all_[0] = idle.take();
    EXPECT_FALSE(accepted());
}

}  // namespace
}  // namespace trefoil::shifts_test
