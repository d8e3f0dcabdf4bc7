// SPDX-License-Identifier: BSD-3-Clause
// Lowering: offsets, channel order, left-out messages, fusion, and what does not fit.
#include "comm/plan/lower.hpp"

#include <gtest/gtest.h>

#include "lowering.hpp"
#include "tests/threads/executor/recording_group.hpp"
#include "threads/executor/notification.hpp"
#include "topo/error.hpp"

namespace trefoil {
namespace {

/// Channels without endpoints: to and from `peers` through every port of one dimension.
struct WiredChannels : Channels {
    WiredChannels(const std::vector<Rank>& peers, std::size_t its_slot_bytes) {
        groups.push_back(
            std::make_shared<test::RecordingGroup>(std::vector<Port>{Port{0}, Port{1}}));
        rings = LandingRings(its_slot_bytes, 0);
        for (const Rank peer : peers) {
            for (int p = 0; p < 2; ++p) {
                (void)add_out(peer, Port{p});
                (void)add_in(peer, Port{p});
            }
        }
    }
};
WiredChannels wire_with(const std::vector<Rank>& peers, std::size_t slot_bytes = 1 << 20) {
    return {peers, slot_bytes};
}

const Extent whole{0, 1};

TEST(Lower, PartsAndBlocksBecomeTheirSharesOfTheVector) {
    ScheduleWriter writer(0);
    for (int part = 0; part < 2; ++part) {
        writer.part(4);
        writer.step();
        const Extent middle{1, 2};
        writer.send(1, Port::plus(0), {&middle, 1});
    }
    const Program program = test::lowered(writer.take(), wire_with({1}), 257, 4, false);
    ASSERT_EQ(program.puts.size(), 2U);
    // Three units of 128 elements: part 0 has one, in eight units of 16; blocks 1 and 2 are the
    // middle.
    EXPECT_EQ(program.puts[0].source.offset, 32U * 4);
    EXPECT_EQ(program.puts[0].bytes, 64U * 4);
    // Part 1: elements [128, 257), nine units: blocks 1 and 2 are its units 2 to 6.
    EXPECT_EQ(program.puts[1].source.offset, (128U + 32) * 4);
    EXPECT_EQ(program.puts[1].bytes, 64U * 4);
    EXPECT_EQ(program.puts[0].index, 0U);
    EXPECT_EQ(program.puts[1].index, 1U);
    EXPECT_EQ(program.puts[1].landing_offset, 256U);
}

TEST(Lower, TinyVectorsStayInOnePiece) {
    ScheduleWriter writer(0);
    for (int part = 0; part < 2; ++part) {
        writer.part(4);
        writer.step();
        for (Block b = 0; b < 4; ++b) {
            const Extent one{b, 1};
            writer.send(1, Port::plus(0), {&one, 1});
        }
    }
    const Schedule schedule = writer.take();
    EXPECT_EQ(test::lowered(schedule, wire_with({1}), 16, 4, false).puts.size(), 1U);
    EXPECT_EQ(test::lowered(schedule, wire_with({1}), 17, 4, false).puts.size(), 2U);
    EXPECT_EQ(test::lowered(schedule, wire_with({1}), 4096, 4, false).puts.size(), 8U);
}

TEST(Lower, WhatARankGetsInAScatterGoesToTheOutputAtOnce) {
    ScheduleWriter writer(1);
    writer.part(4);
    writer.step();
    const Extent own_and_others{1, 3}, others{2, 2};
    writer.receive(0, Port::minus(0), Action::replace, {&own_and_others, 1});
    writer.step();
    writer.send(2, Port::plus(0), {&others, 1});
    const Schedule schedule = writer.take();
    SegmentShape shape;
    shape.collective = Collective::scatter;
    shape.element_bytes = 4;
    shape.elements = {10, 20, 30, 40};
    shape.displacements = {0, 40, 120, 240};
    shape.owners = {{0, 1, 2, 3}};
    auto channels = wire_with({0, 2});
    const Program program = lower(schedule, VectorMap(schedule, shape), channels);
    EXPECT_EQ(program.begin.count, 0U);
    EXPECT_EQ(program.end.count, 0U);
    ASSERT_EQ(program.steps[0].after.count, 2U);
    const ProgramOp* const after = &program.ops[program.steps[0].after.first];
    EXPECT_EQ(after[0].target, (Location{Location::output, 0}));
    EXPECT_EQ(after[0].elements, 80U);
    EXPECT_EQ(after[1].target, (Location{Location::scratch, 40}));  // behind the root's place
    EXPECT_EQ(after[1].source.offset, after[0].source.offset + 80);
    EXPECT_EQ(after[1].elements, 280U);
    EXPECT_EQ(program.puts[0].source, after[1].target);
}

TEST(Lower, EmptyMessagesAreLeftOutAndSignalsStay) {
    ScheduleWriter writer(0);
    writer.part(4);
    writer.step();
    const Extent first{0, 1}, last{3, 1};
    writer.send(1, Port::plus(0), {&first, 1});
    writer.receive(1, Port::minus(0), Action::reduce, {&last, 1});
    writer.step();
    writer.send(1, Port::plus(0), {});
    const Program program = test::lowered(writer.take(), wire_with({1}), 1, 8, false);
    // One element in four blocks: it lies in block 3.
    ASSERT_EQ(program.puts.size(), 1U);
    EXPECT_EQ(program.puts[0].bytes, 0U);
    ASSERT_EQ(program.steps.size(), 2U);
    EXPECT_EQ(program.steps[0].events, 2U);
    EXPECT_EQ(program.steps[1].events, 2U);
    EXPECT_TRUE(program.steps[1].last);
}

TEST(Lower, WhereMessagesAreStoresTheyLieBehindFlagsAndStepsGoSideBySide) {
    ScheduleWriter writer(0);
    for (int part = 0; part < 2; ++part) {
        writer.part(1);
        for (int step = 0; step < 2; ++step) {
            writer.step();
            writer.send(1, Port::plus(0), {&whole, 1});
            writer.receive(1, Port::minus(0), Action::replace, {&whole, 1});
        }
    }
    const Schedule schedule = writer.take();
    WiredChannels channels = wire_with({1});
    channels.rings = LandingRings::stored(1088, 2048, 8192);
    const Program program = test::lowered(schedule, channels, 512, 4, false);
    ASSERT_EQ(program.puts.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        // 1 KiB each: sixteen lines of bytes, and one for what the flag has pushed out of them.
        EXPECT_EQ(program.puts[i].landing_offset, i * 17 * 64 + 16);
        EXPECT_EQ(program.arrival_offsets[i], i * 17 * 64 + 16);
    }
    EXPECT_EQ(channels.rings.of(4 * 17 * 64, false, 64), Ring::few);
    EXPECT_EQ(channels.rings.of(64, true, 64), Ring::tiny);
    EXPECT_EQ(channels.rings.of(1088, true, 64), Ring::many);
    EXPECT_EQ(channels.rings.of(1089, true, 64), Ring::medium);
    EXPECT_EQ(channels.rings.of(2048, false, 32), Ring::medium);
    EXPECT_EQ(channels.rings.of(2049, false, 32), Ring::few);
    // Steps 0 and 1 of part 0, then those of part 1.
    EXPECT_EQ(program.order, (std::vector<std::uint32_t>{0, 2, 1, 3}));
    ASSERT_EQ(program.awaited_by_step.size(), 4U);
    for (std::uint32_t s = 0; s < 4; ++s) {
        ASSERT_EQ(program.awaited_by_step[s].count, 1U);
        const ProgramArrival& awaited = program.awaited[program.awaited_by_step[s].first];
        EXPECT_EQ(program.arrival_steps[awaited.arrival], s);
    }
    const Program plain = test::lowered(schedule, wire_with({1}), 512, 4, false);
    EXPECT_TRUE(plain.order.empty());
}

TEST(Lower, TwoArrivalsInTheSamePlaceAreReducedInOnePass) {
    ScheduleWriter writer(0);
    writer.part(1, 1);
    writer.step();
    writer.receive(1, Port::minus(0), Action::reduce, {&whole, 1});
    writer.receive(1, Port::plus(0), Action::reduce, {&whole, 1});
    const Extent scratch{1, 1};
    writer.apply(Action::replace, {&scratch, 1});
    const Program program = test::lowered(writer.take(), wire_with({1}), 10, 4, false);
    ASSERT_EQ(program.ops.size(), 2U);
    EXPECT_EQ(program.ops[0].kind, ProgramOp::Kind::joint);
    EXPECT_EQ(program.ops[0].elements, 10U);
    EXPECT_NE(program.ops[0].second.space, program.ops[0].third.space);
    EXPECT_EQ(program.ops[1].kind, ProgramOp::Kind::copy);
    EXPECT_EQ(program.ops[1].target.space, Location::scratch);
    EXPECT_EQ(program.steps[0].events, 3U);
}

TEST(Lower, ReductionsAreNotJoinedAcrossAnOverlap) {
    ScheduleWriter writer(0);
    writer.part(4);
    writer.step();
    const Extent wide{0, 4}, narrow{0, 2};
    writer.receive(1, Port::minus(0), Action::reduce, {&wide, 1});
    writer.receive(1, Port::plus(0), Action::reduce, {&narrow, 1});
    writer.receive(2, Port::plus(0), Action::reduce, {&wide, 1});
    const Program program = test::lowered(writer.take(), wire_with({1, 2}), 64, 4, false);
    ASSERT_EQ(program.ops.size(), 3U);
    for (const ProgramOp& op : program.ops) {
        EXPECT_EQ(op.kind, ProgramOp::Kind::reduce);
    }
}

TEST(Lower, ScatteredExtentsArePackedIntoOnePut) {
    ScheduleWriter writer(0);
    writer.part(4);
    writer.step();
    const Extent scattered[] = {{0, 1}, {2, 1}};
    writer.send(1, Port::plus(0), scattered);
    const Program program = test::lowered(writer.take(), wire_with({1}), 64, 4, false);
    ASSERT_EQ(program.puts.size(), 1U);
    EXPECT_EQ(program.puts[0].packs.count, 2U);
    EXPECT_EQ(program.puts[0].bytes, 128U);
    EXPECT_EQ(program.ops[1].source.offset, 128U);
    EXPECT_EQ(program.ops[1].target.offset, 64U);
    EXPECT_GE(program.pack_bytes[0], 128U);
}

TEST(Lower, RegisteredSourcesArePackedAlways) {
    ScheduleWriter writer(0);
    writer.part(1);
    writer.step();
    writer.send(1, Port::plus(0), {&whole, 1});
    const Program program = test::lowered(writer.take(), wire_with({1}), 16, 4, true);
    EXPECT_EQ(program.puts[0].packs.count, 1U);
}

TEST(Lower, WhatDoesNotFitTheLandingSlotIsRefused) {
    ScheduleWriter writer(0);
    writer.part(1);
    writer.step();
    writer.send(1, Port::plus(0), {&whole, 1});
    const Schedule schedule = writer.take();
    EXPECT_NO_THROW(test::lowered(schedule, wire_with({1}, 4096), 1024, 4, false));
    EXPECT_THROW(test::lowered(schedule, wire_with({1}, 4096), 1025, 4, false), Error);
}

TEST(Notification, SurvivesTheRoundTrip) {
    constexpr std::uint32_t last = Notification::index_limit - 1;
    const Notification notification{last, 0x2a3f5, 63, 0xa5, 0x7abcd};
    const Notification back = Notification::decode(notification.encode());
    EXPECT_EQ(back.index, last);
    EXPECT_EQ(back.channel, 0x2a3f5U);
    EXPECT_EQ(back.signature, 63U);
    EXPECT_EQ(back.use, 0xa5U);
    EXPECT_EQ(back.check, 0x7abcdU);
    EXPECT_TRUE(back.is_message());
    EXPECT_FALSE(Notification::decode(acknowledgement(5, 3, 0)).is_message());
    const Notification permission = Notification::decode(permission_of(5, 3, 2, 61));
    EXPECT_FALSE(permission.is_message());
    EXPECT_NE(permission.index, Notification::acknowledgement_index);
    EXPECT_EQ(permission.signature, 61U);
    EXPECT_EQ(permission.use, 3U);
    EXPECT_EQ(permission.ring(), 2U);
    // Where the lower half travels alone, a channel of ten bits does.
    const Notification narrow{last, 1023, 63, 7, 0x7abcd};
    const Notification half = Notification::decode(static_cast<std::uint32_t>(narrow.encode()));
    EXPECT_EQ(half.channel, 1023U);
    EXPECT_EQ(half.index, last);
    EXPECT_EQ(half.use, 7U);
    EXPECT_EQ(half.check, 0U);
    EXPECT_EQ(Notification::channel_limit(64), 0x40000U);
    EXPECT_EQ(Notification::channel_limit(32), 1024U);
}

TEST(Notification, IsNoSignalAndNoSignalIsOne) {
    EXPECT_FALSE(
        Signal::is_signal(Notification{Notification::index_limit - 1, 7, 0, 0, 0}.encode()));
    EXPECT_FALSE(Signal::is_signal(acknowledgement(0x3ffff, 7, 2)));
    const Signal signal{Signal::Kind::record, Signal::place_limit - 1, ~0U};
    EXPECT_FALSE(Notification::decode(signal.encode()).is_message());
    EXPECT_NE(Notification::decode(signal.encode()).index, Notification::acknowledgement_index);
}

TEST(Notification, EachBitOfAChecksumShows) {
    const Notification message{1, 2, 0, 0, 0};
    const std::uint32_t check = message.signed_for(77, 8, 0).check;
    EXPECT_LT(check, 1U << Notification::check_bits);
    for (int bit = 0; bit < 32; ++bit) {
        EXPECT_NE(message.signed_for(77, 8, 1U << bit).check, check) << bit;
        EXPECT_NE(Notification::folded(1U << bit), 0U);
    }
}

}  // namespace
}  // namespace trefoil
