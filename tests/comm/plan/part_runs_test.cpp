// SPDX-License-Identifier: BSD-3-Clause
// Where blocks are read and built: what of the input is copied, and what never is.
#include "comm/plan/part_runs.hpp"

#include <gtest/gtest.h>

#include "comm/plan/lower.hpp"
#include "tests/threads/executor/recording_group.hpp"

namespace trefoil::part_runs_test {
namespace {

using Kind = ProgramOp::Kind;

Location out(std::size_t offset) {
    return {Location::output, offset};
}
Location in(std::size_t offset) {
    return {Location::input, offset};
}

TEST(SideBySide, GoesFromOneCutToTheNext) {
    std::vector<std::pair<std::array<Location, 2>, std::size_t>> seen;
    side_by_side(std::array{std::vector<trefoil::Run>{{out(0), 30}, {out(100), 10}},
                            std::vector<trefoil::Run>{{in(0), 10}, {in(50), 30}}},
                 [&](const auto& at, std::size_t bytes) {
                     seen.push_back({at, bytes});
                 });
    ASSERT_EQ(3U, seen.size());
    EXPECT_EQ(std::pair(std::array{out(0), in(0)}, std::size_t{10}), seen[0]);
    EXPECT_EQ(std::pair(std::array{out(10), in(50)}, std::size_t{20}), seen[1]);
    EXPECT_EQ(std::pair(std::array{out(100), in(70)}, std::size_t{10}), seen[2]);
}

TEST(AppendRun, MergesWhatGoesOnAndLeavesOutWhatIsEmpty) {
    std::vector<trefoil::Run> runs;
    for (const trefoil::Run& run : {trefoil::Run{out(0), 4}, {in(4), 0}, {out(4), 4}, {in(8), 4}}) {
        append_run(run, runs);
    }
    ASSERT_EQ(2U, runs.size());
    EXPECT_EQ(8U, runs[0].bytes);
    EXPECT_EQ(in(8), runs[1].at);
}

constexpr std::size_t elements = 4 * 16384;  // of 4 bytes, in blocks of as many bytes

class BlocksOfAProgram : public testing::Test {
  protected:
    BlocksOfAProgram() {
        channels_.groups.push_back(
            std::make_shared<test::RecordingGroup>(std::vector<Port>{Port{0}, Port{1}}));
        channels_.rings = LandingRings(std::size_t{1} << 20, 0);
        for (int p = 0; p < 2; ++p) {
            (void)channels_.add_out(1, Port{p});
            (void)channels_.add_in(1, Port{p});
        }
        writer_.part(4);
    }
    void send(Extent blocks) { writer_.send(1, Port::plus(0), {&blocks, 1}); }
    void receive(Action action, Extent blocks) {
        writer_.receive(1, Port::minus(0), action, {&blocks, 1});
    }
    Program lowered(Collective collective = Collective::allreduce, bool input_stays = true,
                    std::size_t count = elements) {
        SegmentShape shape;
        shape.collective = collective;
        shape.element_bytes = 4;
        shape.elements = {count};
        shape.root = 1;
        shape.input_stays = input_stays;
        const Schedule schedule = writer_.take();
        return lower(schedule, VectorMap(schedule, shape), channels_);
    }
    static std::span<const ProgramOp> ops(const Program& program, ProgramRange range) {
        return std::span(program.ops).subspan(range.first, range.count);
    }

    ScheduleWriter writer_{0};
    Channels channels_;
};

constexpr std::size_t block = elements;  // bytes

TEST_F(BlocksOfAProgram, WhatIsReplacedAfterwardsIsSentFromTheInput) {
    writer_.step();
    send({2, 2});
    receive(Action::reduce, {0, 2});
    writer_.step();
    send({0, 2});
    receive(Action::replace, {2, 2});
    const Program program = lowered();
    EXPECT_EQ(0U, program.begin.count);
    ASSERT_EQ(2U, program.puts.size());
    EXPECT_EQ(in(2 * block), program.puts[0].source);
    EXPECT_EQ(0U, program.puts[0].packs.count);
    EXPECT_EQ(out(0), program.puts[1].source);
    const auto reduced = ops(program, program.steps[0].after);
    ASSERT_EQ(1U, reduced.size());
    const Location landed = reduced[0].second;
    EXPECT_EQ(Location::first_landing + 1, landed.space) << "of the other port";
    EXPECT_EQ(ProgramOp::reduce(out(0), in(0), landed, 2 * elements / 4), reduced[0]);
    const auto replaced = ops(program, program.steps[1].after);
    ASSERT_EQ(1U, replaced.size());
    EXPECT_EQ(out(2 * block), replaced[0].target);
    EXPECT_EQ(Kind::copy, replaced[0].kind);
}

TEST_F(BlocksOfAProgram, WhatNobodyTouchesIsCopiedFirst) {
    writer_.step();
    send({1, 1});
    receive(Action::reduce, {3, 1});
    const Program program = lowered();
    const auto first = ops(program, program.begin);
    ASSERT_EQ(1U, first.size());
    EXPECT_EQ(ProgramOp::copy(out(0), in(0), 3 * block), first[0]);
    EXPECT_EQ(in(block), program.puts[0].source);
}

TEST_F(BlocksOfAProgram, NoImageIsMadeOfWhatIsSentOn) {
    writer_.step();
    send({0, 4});
    const Program program = lowered(Collective::reduce);
    EXPECT_EQ(0U, program.begin.count);
    EXPECT_EQ(in(0), program.puts[0].source);
}

TEST_F(BlocksOfAProgram, AMessageOfOneRunStaysOnePiece) {
    writer_.step();
    receive(Action::reduce, {0, 1});
    writer_.step();
    send({0, 2});
    const Program program = lowered();
    ASSERT_EQ(1U, program.puts.size());
    EXPECT_EQ(out(0), program.puts[0].source);
    EXPECT_EQ(0U, program.puts[0].packs.count);
    const auto before = ops(program, program.steps[1].before);
    ASSERT_EQ(1U, before.size());
    EXPECT_EQ(ProgramOp::copy(out(block), in(block), block), before[0]);
}

TEST_F(BlocksOfAProgram, WhatIsReducedIsSentFromTheInputBefore) {
    writer_.step();
    send({0, 4});
    receive(Action::reduce, {0, 4});
    const Program program = lowered(Collective::allreduce, true, 2);
    EXPECT_EQ(in(0), program.puts[0].source) << "however short it is";
    EXPECT_EQ(0U, program.begin.count + program.steps[0].before.count);
    const auto after = ops(program, program.steps[0].after);
    ASSERT_EQ(1U, after.size());
    EXPECT_EQ(ProgramOp::reduce(out(0), in(0), after[0].second, 2), after[0]);
}

// Both ports of a dimension: the first reads the input, the second what the first has built.
TEST_F(BlocksOfAProgram, WhatTwoBringIsReducedWithTheInputInOnePass) {
    writer_.step();
    receive(Action::reduce, {0, 4});
    writer_.receive(1, Port::plus(0), Action::reduce, {{{0, 4}}});
    const Program program = lowered();
    const auto after = ops(program, program.steps[0].after);
    ASSERT_EQ(1U, after.size());
    EXPECT_EQ(Kind::joint, after[0].kind);
    EXPECT_EQ(out(0), after[0].target);
    EXPECT_EQ(in(0), after[0].source);
    EXPECT_NE(after[0].second.space, after[0].third.space);
}

TEST_F(BlocksOfAProgram, WhatComesFromLowerRanksIsTheFirstOperand) {
    writer_.step();
    receive(Action::prepend, {0, 4});
    const Program program = lowered();
    const auto after = ops(program, program.steps[0].after);
    ASSERT_EQ(1U, after.size());
    EXPECT_EQ(ProgramOp::reduce(out(0), after[0].source, in(0), elements), after[0]);
    EXPECT_EQ(Location::first_landing + 1, after[0].source.space);
}

TEST_F(BlocksOfAProgram, LowerAndHigherRanksAreReducedWithItInOnePass) {
    writer_.step();
    receive(Action::prepend, {0, 4});
    writer_.receive(1, Port::plus(0), Action::reduce, {{{0, 4}}});
    const Program program = lowered();
    const auto after = ops(program, program.steps[0].after);
    ASSERT_EQ(1U, after.size());
    EXPECT_EQ(Kind::joint, after[0].kind);
    EXPECT_EQ(Location::first_landing + 1, after[0].source.space);
    EXPECT_EQ(in(0), after[0].second);
    EXPECT_EQ(Location::first_landing, after[0].third.space);
}

TEST_F(BlocksOfAProgram, MovesReadTheInput) {
    writer_.step();
    writer_.move(Action::replace, {0, 1}, 1);
    writer_.move(Action::reduce, {2, 1}, 3);
    send({1, 1});
    const Program program = lowered();
    const auto before = ops(program, program.steps[0].before);
    ASSERT_EQ(2U, before.size());
    EXPECT_EQ(ProgramOp::copy(out(block), in(0), block), before[0]);
    EXPECT_EQ(ProgramOp::reduce(out(3 * block), in(3 * block), in(2 * block), elements / 4),
              before[1]);
    EXPECT_EQ(out(block), program.puts[0].source);
    const auto first = ops(program, program.begin);
    ASSERT_EQ(2U, first.size()) << "the rest of the result";
}

TEST_F(BlocksOfAProgram, WhatARankKeepsIsBuiltInItsOutputUnlessThatIsTheInput) {
    for (const bool in_place : {false, true}) {
        writer_ = ScheduleWriter(0);
        writer_.part(4);
        writer_.step();
        send({1, 1});
        receive(Action::reduce, {2, 1});
        const Schedule schedule = writer_.take();
        SegmentShape shape;
        shape.collective = Collective::reduce_scatter;
        shape.element_bytes = 4;
        shape.elements = {10, 20, 30, 40};
        shape.displacements = {0, 40, 120, 240};
        shape.owners = {{1, 2, 0, 3}};
        shape.input_stays = true;
        shape.in_place = in_place;
        const Program program = lower(schedule, VectorMap(schedule, shape), channels_);
        EXPECT_EQ(in(120), program.puts[0].source) << "the block of rank 2";
        const auto after = ops(program, program.steps[0].after);
        ASSERT_EQ(1U, after.size());
        EXPECT_EQ(in(0), after[0].source);
        EXPECT_EQ(10U, after[0].elements);
        const auto last = ops(program, program.end);
        if (in_place) {
            ASSERT_EQ(1U, last.size());
            EXPECT_EQ(ProgramOp::copy(out(0), after[0].target, 40), last[0]);
        } else {
            EXPECT_EQ(out(0), after[0].target);
            EXPECT_TRUE(last.empty());
        }
    }
}

TEST_F(BlocksOfAProgram, AreBuiltFirstWhereTheInputDoesNotStay) {
    writer_.step();
    send({0, 4});
    const Program program = lowered(Collective::reduce, false);
    EXPECT_EQ(1U, program.begin.count);
    EXPECT_EQ(Location::scratch, program.puts[0].source.space);
}

TEST_F(BlocksOfAProgram, AreBuiltFirstWherePeersReadThem) {
    writer_.step();
    writer_.open(1, Port::plus(0));
    const Program program = lowered();
    EXPECT_EQ(1U, program.begin.count);
}

}  // namespace
}  // namespace trefoil::part_runs_test
