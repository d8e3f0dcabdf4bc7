// SPDX-License-Identifier: BSD-3-Clause
// Lowering of pulls: spaces of peers, chunks, temporaries, in place and not, by addresses and by
// the transport.
#include "comm/plan/pulls.hpp"

#include <gtest/gtest.h>

#include "algorithms/registry/registry.hpp"
#include "comm/plan/lower.hpp"
#include "comm/plan/single_copy.hpp"
#include "tests/threads/executor/recording_group.hpp"
#include "topo/error.hpp"

namespace trefoil::pulls_test {
namespace {

using Kind = ProgramOp::Kind;

/// Where the peers live: there their addresses are valid here, or not.
enum class Peers : std::uint8_t { of_this_process, of_others };

Schedule single_copy(const char* torus, Rank rank) {
    return find_algorithm(Collective::allreduce, "single-copy").build(Torus::parse(torus), rank);
}

/// What the opening step of a schedule needs.
struct OpeningChannels : Channels {
    OpeningChannels(const Schedule& schedule, Peers where) {
        groups.push_back(std::make_shared<test::RecordingGroup>(
            std::vector<Port>{Port{0}, Port{1}, Port{2}, Port{3}}));
        rings = LandingRings(4096, 0);
        const Step& opening = schedule.of(schedule.parts[0])[0];
        for (const Send& send : schedule.sends_of(opening)) {
            (void)add_out(send.peer, send.port);
        }
        for (const Receive& receive : schedule.receives_of(opening)) {
            (void)add_in(receive.peer, receive.port);
        }
        in_this_process.assign(16, where == Peers::of_this_process);
    }
};

Program lowered(const Schedule& schedule, Peers where, std::size_t elements, bool in_place) {
    SegmentShape shape;
    shape.element_bytes = 4;
    shape.elements = {elements};
    shape.in_place = in_place;
    OpeningChannels channels(schedule, where);
    return lower(schedule, VectorMap(schedule, shape), channels);
}

std::vector<Kind> kinds(const Program& program, ProgramRange range) {
    std::vector<Kind> list;
    for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
        list.push_back(program.ops[i].kind);
    }
    return list;
}

TEST(Pulls, OpeningsCarryAddressesAndPlaceThePeers) {
    const Program program = lowered(single_copy("3", 1), Peers::of_this_process, 1000, false);
    ASSERT_EQ(program.steps.size(), 3U);
    const ProgramStep& opening = program.steps[0];
    ASSERT_EQ(opening.puts.count, 2U);
    EXPECT_EQ(program.puts[0].source.space, Location::addresses);
    EXPECT_EQ(program.puts[0].bytes, sizeof(VectorAddresses));
    EXPECT_EQ(kinds(program, opening.after), (std::vector<Kind>{Kind::open, Kind::open}));
    EXPECT_EQ(program.begin.count, 0U) << "nothing is copied from the input to the output";
    EXPECT_EQ(program.arrival_bytes, (std::vector<std::size_t>{16, 0, 0, 16, 0, 0}));
    EXPECT_EQ(program.first_peer, Location::first_landing + 4) << "two channels were there";
    EXPECT_EQ(program.spaces(), program.first_peer + 4);
    EXPECT_EQ(program.ops[opening.after.first].target.space, program.first_peer);
    EXPECT_EQ(program.ops[opening.after.first + 1].target.space, program.first_peer + 2);
}

// Rank 0's contribution comes first, and the sum is made in the output.
TEST(Pulls, TwoVectorsAreReducedInOnePass) {
    const Program program = lowered(single_copy("3", 1), Peers::of_this_process, 48, false);
    const ProgramStep& reducing = program.steps[1];
    ASSERT_EQ(kinds(program, reducing.before), (std::vector<Kind>{Kind::copy, Kind::joint}));
    const ProgramOp& copy = program.ops[reducing.before.first];
    const ProgramOp& joint = program.ops[reducing.before.first + 1];
    EXPECT_EQ(copy.target, (Location{Location::output, 64}));
    EXPECT_EQ(copy.source.space, program.ops[program.steps[0].after.first + 1].target.space)
        << "rank 0 is the second that opens";
    EXPECT_EQ(joint.source, copy.target);
    EXPECT_EQ(joint.second.space, Location::input);
    EXPECT_EQ(joint.third.space, program.first_peer) << "the input of rank 2";
    EXPECT_EQ(joint.elements, 16U);
    const ProgramStep& copying = program.steps[2];
    ASSERT_EQ(kinds(program, copying.before), (std::vector<Kind>{Kind::copy, Kind::copy}));
    EXPECT_EQ(program.ops[copying.before.first].source.space, program.first_peer + 1)
        << "the output of rank 2";
}

TEST(Pulls, InPlaceTheSumIsMadeInScratch) {
    const Program program = lowered(single_copy("3", 1), Peers::of_this_process, 48, true);
    ASSERT_EQ(kinds(program, program.steps[1].before),
              (std::vector<Kind>{Kind::joint, Kind::copy}));
    const std::uint32_t first = program.steps[1].before.first;
    EXPECT_EQ(program.ops[first].target.space, Location::scratch);
    EXPECT_EQ(program.ops[first + 1].source.space, Location::scratch);
    EXPECT_EQ(program.ops[first + 1].target.space, Location::output);
    // Rank 0 has its own contribution in place, whether or not it is the input's.
    const Program zero = lowered(single_copy("3", 0), Peers::of_this_process, 48, true);
    EXPECT_EQ(kinds(zero, zero.steps[1].before), (std::vector<Kind>{Kind::copy, Kind::joint}));
    EXPECT_EQ(zero.ops[zero.steps[1].before.first].source.space, Location::input);
}

TEST(Pulls, SumsAreFinishedChunkByChunk) {
    const std::size_t share = 2 * addressed_chunk_bytes + 64;
    const Program program =
        lowered(single_copy("2", 1), Peers::of_this_process, 2 * share / 4, true);
    ASSERT_EQ(kinds(program, program.steps[1].before),
              (std::vector<Kind>{Kind::reduce, Kind::copy, Kind::reduce, Kind::copy, Kind::reduce,
                                 Kind::copy}));
    const std::uint32_t first = program.steps[1].before.first;
    EXPECT_EQ(program.ops[first].elements, addressed_chunk_bytes / 4);
    EXPECT_EQ(program.ops[first + 2].target.offset, program.ops[first].target.offset)
        << "the next chunk has the same room";
    EXPECT_EQ(program.ops[first + 2].source.offset, share + addressed_chunk_bytes);
    EXPECT_EQ(program.ops[first + 3].target.offset, share + addressed_chunk_bytes);
    EXPECT_EQ(program.ops[first + 4].elements, 64U / 4);
    // The finished share is copied at once.
    EXPECT_EQ(kinds(program, program.steps[2].before), (std::vector<Kind>{Kind::copy}));
}

TEST(Pulls, WhatIsNotMappedIsCopiedByTheTransport) {
    const std::size_t share = copied_chunk_bytes + 64;
    const Program program = lowered(single_copy("3", 1), Peers::of_others, 3 * share / 4, false);
    ASSERT_EQ(kinds(program, program.steps[1].before),
              (std::vector<Kind>{Kind::pull, Kind::reduce, Kind::pull, Kind::reduce, Kind::pull,
                                 Kind::reduce, Kind::pull, Kind::reduce}));
    const std::uint32_t first = program.steps[1].before.first;
    EXPECT_EQ(program.ops[first].target.space, Location::output);
    const ProgramOp& fetched = program.ops[first + 2];
    EXPECT_EQ(fetched.target.space, Location::scratch);
    EXPECT_LE(fetched.target.offset + copied_chunk_bytes, program.scratch_bytes);
    EXPECT_EQ(program.ops[first + 3].second.offset, fetched.target.offset);
    EXPECT_EQ(program.peer_of(fetched.source.space), program.used_out[0]);
    EXPECT_EQ(program.puts[0].channel, program.used_out[0]) << "the channel to rank 2";
    EXPECT_EQ(kinds(program, program.steps[2].before), (std::vector<Kind>{Kind::pull, Kind::pull}));
}

// Rank 0's contribution comes first, but need not be copied before the other's is there.
TEST(Pulls, WhatTheTransportCopiesCanBeTheFirstInTheTarget) {
    const Program apart = lowered(single_copy("2", 0), Peers::of_others, 64, false);
    ASSERT_EQ(kinds(apart, apart.steps[1].before), (std::vector<Kind>{Kind::pull, Kind::reduce}));
    const std::uint32_t first = apart.steps[1].before.first;
    EXPECT_EQ(apart.ops[first].target.space, Location::output);
    EXPECT_EQ(apart.ops[first + 1].source.space, Location::input);
    EXPECT_EQ(apart.ops[first + 1].second.space, Location::output);
    EXPECT_EQ(apart.ops[first + 1].elements, 32U);
    const Program in_place = lowered(single_copy("2", 0), Peers::of_others, 64, true);
    EXPECT_EQ(kinds(in_place, in_place.steps[1].before),
              (std::vector<Kind>{Kind::copy, Kind::pull, Kind::reduce}))
        << "it would overwrite the contribution";
}

SegmentShape shown_shape(Collective collective, std::vector<std::size_t> elements) {
    SegmentShape shape;
    shape.collective = collective;
    shape.element_bytes = 4;
    shape.elements = std::move(elements);
    shape.by_image = true;
    return shape;
}

// What others read is copied to the image; the own share's sum is made there.
TEST(Pulls, ByImageAllOfAPeerIsItsScratch) {
    const Schedule schedule = single_copy("3", 1);
    OpeningChannels channels(schedule, Peers::of_others);
    const Program program =
        lower(schedule, VectorMap(schedule, shown_shape(Collective::allreduce, {48})), channels);
    EXPECT_TRUE(program.shows_image && program.image_is_input && program.image_is_output);
    EXPECT_GE(program.scratch_bytes, 192U);
    ASSERT_EQ(kinds(program, program.begin), (std::vector<Kind>{Kind::copy, Kind::copy}));
    const ProgramOp& before = program.ops[program.begin.first];
    const ProgramOp& behind = program.ops[program.begin.first + 1];
    EXPECT_EQ(before.target, (Location{Location::scratch, 0}));
    EXPECT_EQ(before.source, (Location{Location::input, 0}));
    EXPECT_EQ(before.elements, 64U) << "not the own share, which nobody else reads";
    EXPECT_EQ(behind.target, (Location{Location::scratch, 128}));
    const ProgramStep& reducing = program.steps[1];
    ASSERT_EQ(kinds(program, reducing.before), (std::vector<Kind>{Kind::copy, Kind::joint}));
    EXPECT_EQ(program.ops[reducing.before.first].target, (Location{Location::scratch, 64}));
    const ProgramStep& copying = program.steps[2];
    ASSERT_EQ(kinds(program, copying.before), (std::vector<Kind>{Kind::copy, Kind::copy}));
    EXPECT_EQ(program.ops[copying.before.first].target.space, Location::output);
    ASSERT_EQ(kinds(program, program.end), (std::vector<Kind>{Kind::copy}));
    EXPECT_EQ(program.ops[program.end.first].source, (Location{Location::scratch, 64}));
    EXPECT_EQ(program.ops[program.end.first].target, (Location{Location::output, 64}));
}

TEST(Pulls, ByImageOnlyWhoIsReadShowsSomething) {
    const Algorithm& bcast = find_algorithm(Collective::bcast, "shared-copy");
    for (const Rank rank : {0, 1}) {
        const Schedule schedule = bcast.build(Torus::parse("3"), rank);
        OpeningChannels channels(schedule, Peers::of_others);
        const Program program =
            lower(schedule, VectorMap(schedule, shown_shape(Collective::bcast, {48})), channels);
        EXPECT_EQ(program.begin.count, rank == 0 ? 1U : 0U);
        EXPECT_EQ(program.scratch_bytes, rank == 0 ? 192U : 64U);
        EXPECT_EQ(program.end.count, 0U);
        if (rank == 0) {
            EXPECT_EQ(program.ops[program.begin.first].source.space, Location::output)
                << "a bcast is in place";
        }
    }
}

TEST(Pulls, EmptySharesAreLeftOutAndSignalsStay) {
    const Program program = lowered(single_copy("3", 1), Peers::of_this_process, 1, false);
    ASSERT_EQ(program.steps.size(), 3U);
    EXPECT_EQ(program.steps[1].before.count + program.steps[2].before.count, 1U);
    EXPECT_EQ(program.puts.size(), 6U);
}

/// Each rank places the blocks in the output of an allgather as it likes.
TEST(Pulls, AreForWhatLiesWhereAllRanksKnow) {
    const Schedule schedule = single_copy("3", 1);
    SegmentShape shape;
    shape.collective = Collective::allgather;
    shape.elements = {100, 100, 100};
    shape.displacements = {0, 100, 200};
    shape.owners = {{0, 1, 2}};
    OpeningChannels channels(schedule, Peers::of_this_process);
    EXPECT_THROW(lower(schedule, VectorMap(schedule, shape), channels), Error);
}

TEST(Pulls, ABlockThatAnybodyElseReadsIsNoTemporary) {
    ScheduleWriter writer(0);
    writer.part(2, 3, 0);
    writer.step();
    for (const Block scratch : {2, 3, 4}) {
        writer.pull(Action::replace, 1, {0, 1}, scratch);
        writer.move(Action::replace, {scratch, 1}, 0);
    }
    writer.step();
    const Extent sent{3, 1};
    writer.send(1, Port::plus(0), {&sent, 1});
    writer.move(Action::replace, {1, 1}, 4);
    const Schedule schedule = writer.take();
    EXPECT_TRUE(is_temporary(schedule, schedule.parts[0], 2));
    EXPECT_FALSE(is_temporary(schedule, schedule.parts[0], 3)) << "it is sent";
    EXPECT_FALSE(is_temporary(schedule, schedule.parts[0], 4)) << "it is built twice";
    EXPECT_FALSE(is_temporary(schedule, schedule.parts[0], 0)) << "it is no scratch";
}

TEST(SegmentsOfShares, AreBalancedAndBeginAtCacheLines) {
    constexpr std::size_t floats = segment_share_bytes / 4;
    EXPECT_EQ(segments_of_shares(9 * floats, 4, 9, segment_share_bytes).count, 1U);
    const ShareSegments two = segments_of_shares(9 * floats + 1, 4, 9, segment_share_bytes);
    EXPECT_EQ(two.count, 2U);
    EXPECT_EQ(two.elements % 16, 0U);
    EXPECT_GE(2 * two.elements, 9 * floats + 1);
    EXPECT_LE(two.elements, 9 * floats / 2 + 16);
    EXPECT_EQ(segments_of_shares(0, 4, 9, segment_share_bytes).count, 0U);
    EXPECT_EQ(segments_of_shares(7, 4096, 2, segment_share_bytes).count, 1U);
    EXPECT_EQ(segments_of_shares(1, std::size_t{1} << 20, 2, segment_share_bytes).count, 1U);
}

}  // namespace
}  // namespace trefoil::pulls_test
