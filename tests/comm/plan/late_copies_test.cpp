// SPDX-License-Identifier: BSD-3-Clause
// What of the input is copied, and when: before it is worked on, and not where it is only sent on.
#include "comm/plan/late_copies.hpp"

#include <gtest/gtest.h>

#include "comm/plan/lower.hpp"
#include "tests/threads/executor/recording_group.hpp"

namespace trefoil::late_copies_test {
namespace {

using Kind = ProgramOp::Kind;

Location out(std::size_t offset) {
    return {Location::output, offset};
}
Location in(std::size_t offset) {
    return {Location::input, offset};
}

TEST(LateCopies, AreCutWhereAPartIsTaken) {
    LateCopies late({{out(0), in(1000), 100}, {out(100), in(5000), 50}});
    std::vector<trefoil::Run> sources;
    late.append_sources({out(80), 40}, sources);
    ASSERT_EQ(2U, sources.size());
    EXPECT_EQ(in(1080), sources[0].at);
    EXPECT_EQ(20U, sources[0].bytes);
    EXPECT_EQ(in(5000), sources[1].at);
    EXPECT_FALSE(late.is_mixed({out(80), 40}));

    std::vector<ProgramOp> ops;
    late.copy({out(90), 20}, ops);
    const std::vector<ProgramOp> two{{Kind::copy, out(90), in(1090), {}, 10},
                                     {Kind::copy, out(100), in(5000), {}, 10}};
    EXPECT_EQ(two, ops);
    late.copy({out(90), 20}, ops);
    EXPECT_EQ(2U, ops.size());
    EXPECT_TRUE(late.is_mixed({out(80), 40}));
    sources.clear();
    late.append_sources({out(80), 40}, sources);
    ASSERT_EQ(3U, sources.size());
    EXPECT_EQ(out(90), sources[1].at);
    EXPECT_EQ(20U, sources[1].bytes);
    EXPECT_EQ(in(5010), sources[2].at);

    late.copy({out(0), 90}, ops);
    late.copy({{Location::scratch, 0}, 1000}, ops);
    EXPECT_FALSE(late.empty());
    late.copy({out(0), 150}, ops);
    EXPECT_TRUE(late.empty());
    EXPECT_EQ(out(110), ops.back().target);
}

constexpr std::size_t elements = 4 * 16384;  // of 4 bytes, in blocks of as many bytes

class LateCopiesOfAProgram : public testing::Test {
  protected:
    LateCopiesOfAProgram() {
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

TEST_F(LateCopiesOfAProgram, WhatIsReplacedAfterwardsIsSentFromTheInput) {
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
    ASSERT_EQ(2 * 2 * block / late_chunk_bytes, reduced.size());
    for (std::size_t i = 0; i < reduced.size(); i += 2) {
        const std::size_t at = i / 2 * late_chunk_bytes;
        EXPECT_EQ((ProgramOp{Kind::copy, out(at), in(at), {}, late_chunk_bytes}), reduced[i]);
        EXPECT_EQ(Kind::reduce, reduced[i + 1].kind);
        EXPECT_EQ(out(at), reduced[i + 1].target);
        EXPECT_EQ(at, reduced[i + 1].source.offset);
        EXPECT_EQ(late_chunk_bytes / 4, reduced[i + 1].elements);
    }
    const auto replaced = ops(program, program.steps[1].after);
    ASSERT_EQ(1U, replaced.size());
    EXPECT_EQ(out(2 * block), replaced[0].target);
    EXPECT_EQ(Kind::copy, replaced[0].kind);
}

TEST_F(LateCopiesOfAProgram, WhatNobodyTouchesIsCopiedFirst) {
    writer_.step();
    send({1, 1});
    receive(Action::reduce, {3, 1});
    const Program program = lowered();
    const auto first = ops(program, program.begin);
    ASSERT_EQ(1U, first.size());
    EXPECT_EQ((ProgramOp{Kind::copy, out(0), in(0), {}, 3 * block}), first[0]);
    EXPECT_EQ(in(block), program.puts[0].source);
}

TEST_F(LateCopiesOfAProgram, AnImageOfWhatIsSentOnIsNotMade) {
    writer_.step();
    send({0, 4});
    const Program program = lowered(Collective::reduce);
    EXPECT_EQ(0U, program.begin.count);
    EXPECT_EQ(in(0), program.puts[0].source);
}

TEST_F(LateCopiesOfAProgram, AMessageOfOneRunStaysOnePiece) {
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
    EXPECT_EQ((ProgramOp{Kind::copy, out(block), in(block), {}, block}), before[0]);
}

// It would be read from memory twice.
TEST_F(LateCopiesOfAProgram, WhatIsReducedLaterIsSentFromItsCopy) {
    writer_.step();
    send({0, 4});
    receive(Action::reduce, {0, 4});
    const Program program = lowered();
    EXPECT_EQ(out(0), program.puts[0].source);
    const auto before = ops(program, program.steps[0].before);
    ASSERT_EQ(1U, before.size());
    EXPECT_EQ((ProgramOp{Kind::copy, out(0), in(0), {}, 4 * block}), before[0]);
    EXPECT_EQ(1U, program.steps[0].after.count);
}

TEST_F(LateCopiesOfAProgram, MovesFindTheirBlocks) {
    writer_.step();
    writer_.move(Action::replace, {0, 1}, 1);
    send({1, 1});
    const Program program = lowered();
    const auto before = ops(program, program.steps[0].before);
    ASSERT_EQ(3U, before.size());
    EXPECT_EQ((ProgramOp{Kind::copy, out(0), in(0), {}, block}), before[0]);
    EXPECT_EQ((ProgramOp{Kind::copy, out(block), out(0), {}, block}), before[2]);
    EXPECT_EQ(out(block), program.puts[0].source);
}

TEST_F(LateCopiesOfAProgram, AShortVectorIsCopiedAtOnceUnlessNothingIsReceived) {
    const auto short_reduce = [&] { return lowered(Collective::reduce, true, 64); };
    writer_.step();
    send({0, 4});
    const Program leaf = short_reduce();
    EXPECT_EQ(0U, leaf.begin.count);
    EXPECT_EQ(in(0), leaf.puts[0].source);

    writer_ = ScheduleWriter(0);
    writer_.part(4);
    writer_.step();
    receive(Action::reduce, {0, 4});
    writer_.step();
    send({0, 4});
    const Program inner = short_reduce();
    EXPECT_EQ(1U, inner.begin.count);
    EXPECT_EQ(Location::scratch, inner.puts[0].source.space);
}

TEST_F(LateCopiesOfAProgram, AreNotPutOffWhereTheInputDoesNotStay) {
    writer_.step();
    send({0, 4});
    const Program program = lowered(Collective::reduce, false);
    EXPECT_EQ(1U, program.begin.count);
    EXPECT_EQ(Location::scratch, program.puts[0].source.space);
}

TEST_F(LateCopiesOfAProgram, AreNotPutOffWherePeersRead) {
    writer_.step();
    writer_.open(1, Port::plus(0));
    const Program program = lowered();
    EXPECT_EQ(1U, program.begin.count);
}

}  // namespace
}  // namespace trefoil::late_copies_test
