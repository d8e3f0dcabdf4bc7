// SPDX-License-Identifier: BSD-3-Clause
// trivance-l and trivance-g: proofs, steps, loads, volumes, and the order of trivance-g's sums.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/algorithms/trivance/testing.hpp"

namespace trefoil {
namespace {

using namespace testing_trivance;

TEST(TrivanceLatency, ProvedOnRings) {
    prove_steps(trivance<build_trivance_l>(), rings(1, 40), false, 1);
}
TEST(TrivanceLatency, ProvedOnTori) {
    prove_steps(trivance<build_trivance_l>(), tori(), false, 1);
}

TEST(TrivanceLatency, WindowsAssociateSumsDifferently) {
    EXPECT_FALSE(verify(Torus({9}), trivance<build_trivance_l>()).identical_results);
}

TEST(TrivanceLatency, EachPartLoadsTheLinksOfOneDimension) {
    // Two parts of half a vector each, on dimensions of their own: 2 x 4 / 2 for 8x8.
    EXPECT_DOUBLE_EQ(summarize(Torus({8, 8}), trivance<build_trivance_l>()).sum_link_load, 4);
    EXPECT_DOUBLE_EQ(summarize(Torus({9, 9, 9}), trivance<build_trivance_l>()).sum_link_load, 4);
    EXPECT_DOUBLE_EQ(summarize(Torus({16}), trivance<build_trivance_l>()).sum_link_load, 8);
}

TEST(TrivanceLatency, HalvesGoBothWaysToTheOtherSide) {
    for (const auto& [shape, load] :
         {std::pair{"2", 0.5}, {"6", 2.5}, {"10", 4.5}, {"2x6", 2.5}, {"6x6", 2.5}}) {
        const CostSummary cost = summarize(Torus::parse(shape), trivance<build_trivance_l>());
        EXPECT_DOUBLE_EQ(cost.sum_link_load, load) << shape;
    }
    const Schedule schedule = build_trivance_l(Torus({6}), 1);
    ASSERT_EQ(schedule.sends.size(), 4U);
    EXPECT_EQ(schedule.sends[2].peer, 4);
    EXPECT_EQ(schedule.sends[3].peer, 4);
    EXPECT_EQ(schedule.sends[2].port, Port::plus(0));
    EXPECT_EQ(schedule.sends[3].port, Port::minus(0));
    // In whichever dimension the other side is.
    for (const auto& [sizes, across] : {std::pair{std::vector<Rank>{6, 3}, 0}, {{3, 6}, 1}}) {
        const Torus torus(sizes);
        std::map<Port, int> halves;
        for (const Send& send : build_trivance_l(torus, 0).sends) {
            if (send.peer == torus.shifted(0, across, 3)) {
                ++halves[send.port];
            }
        }
        // In both parts.
        EXPECT_EQ(halves, (std::map<Port, int>{{Port::plus(across), 2}, {Port::minus(across), 2}}))
            << torus.name();
    }
}

TEST(TrivanceLatency, OneMessagePerPortOnCubes) {
    for (const char* shape : {"2", "5", "8", "16", "64", "4x4", "5x5", "3x3x3", "2x2x2"}) {
        const CostSummary cost = summarize(Torus::parse(shape), trivance<build_trivance_l>());
        EXPECT_EQ(cost.max_sends_per_port_per_step, 1) << shape;
        EXPECT_EQ(cost.max_extents_per_message, 1) << shape;
    }
}

TEST(TrivanceLatency, APairUsesBothOfItsLinks) {
    const Schedule schedule = build_trivance_l(Torus({2}), 0);
    ASSERT_EQ(schedule.sends.size(), 2U);
    EXPECT_EQ(schedule.sends[0].port, Port::plus(0));
    EXPECT_EQ(schedule.sends[1].port, Port::minus(0));
    EXPECT_DOUBLE_EQ(summarize(Torus({2}), trivance<build_trivance_l>()).bytes_sent_max, 1);
}

TEST(TrivanceGather, ProvedOnRings) {
    prove_steps(trivance<build_trivance_g>(), rings(1, 40), true, 1);
}
TEST(TrivanceGather, ProvedOnTori) {
    prove_steps(trivance<build_trivance_g>(), tori(), true, 1);
}

TEST(TrivanceGather, EveryContributionArrivesOnceInOneExtent) {
    for (const char* shape : {"2", "7", "26", "40", "4x4", "3x5", "2x3x4", "2x1x2"}) {
        const Torus torus = Torus::parse(shape);
        const CostSummary cost = summarize(torus, trivance<build_trivance_g>());
        EXPECT_DOUBLE_EQ(cost.bytes_sent_max, torus.ranks() - 1) << shape;
        EXPECT_DOUBLE_EQ(cost.bytes_sent_min, torus.ranks() - 1) << shape;
        EXPECT_EQ(cost.max_extents_per_message, 1) << shape;
    }
}

/// Runs allreduce schedules of one-block parts over text; reduction appends.
class TextRun {
  public:
    explicit TextRun(const Torus& torus) : torus_(torus) {
        for (Rank r = 0; r < torus.ranks(); ++r) {
            schedules_.push_back(build_trivance_g(torus, r));
        }
    }

    std::vector<std::string> run(std::size_t part) {
        buffers_.clear();
        for (Rank r = 0; r < torus_.ranks(); ++r) {
            buffers_.emplace_back(1 + schedules_[r].parts[part].scratch_blocks);
            buffers_.back()[0] = std::to_string(r) + ",";
        }
        for (std::uint32_t i = 0; i < schedules_[0].parts[part].steps.count; ++i) {
            step(part, i);
        }
        std::vector<std::string> results;
        for (const auto& buffer : buffers_) {
            results.push_back(buffer[0]);
        }
        return results;
    }

    std::size_t parts() const { return schedules_[0].parts.size(); }

  private:
    using Buffer = std::vector<std::string>;

    static void apply(Action action, std::string& target, const std::string& source) {
        target = action == Action::replace ? source : target + source;
    }

    void step(std::size_t part, std::uint32_t i) {
        std::map<std::tuple<Rank, Rank, Port>, Buffer> wire;
        for (const Schedule& s : schedules_) {
            const Step& step = s.of(s.parts[part])[i];
            Buffer& buffer = buffers_[s.rank];
            for (const Move& m : s.moves_of(step)) {
                apply(m.action, buffer[m.to], buffer[m.from.first]);
            }
            for (const Send& m : s.sends_of(step)) {
                const Extent e = s.extents_of(m).front();
                wire[{s.rank, m.peer, m.port}] =
                    Buffer(buffer.begin() + e.first, buffer.begin() + e.first + e.count);
            }
        }
        for (const Schedule& s : schedules_) {
            for (const Receive& m : s.receives_of(s.of(s.parts[part])[i])) {
                const Buffer& message = wire.at({m.peer, s.rank, m.port.opposite()});
                const Application& a = s.applications_of(m).front();
                const Extent e = s.extents_of(a).front();
                ASSERT_EQ(message.size(), e.count);
                for (Block b = 0; b < e.count; ++b) {
                    apply(a.action, buffers_[s.rank][e.first + b], message[b]);
                }
            }
        }
    }

    const Torus& torus_;
    std::vector<Schedule> schedules_;
    std::vector<Buffer> buffers_;
};

TEST(TrivanceGather, ReducesInRankOrderOnEveryShape) {
    for (const char* shape : {"2", "5", "12", "3x4", "4x3", "2x2x3"}) {
        const Torus torus = Torus::parse(shape);
        std::string expected;
        for (Rank r = 0; r < torus.ranks(); ++r) {
            expected += std::to_string(r) + ",";
        }
        TextRun text(torus);
        for (std::size_t part = 0; part < text.parts(); ++part) {
            EXPECT_EQ(text.run(part), std::vector<std::string>(torus.ranks(), expected)) << shape;
        }
    }
}

}  // namespace
}  // namespace trefoil
