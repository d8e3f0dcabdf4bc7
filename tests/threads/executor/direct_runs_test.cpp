// SPDX-License-Identifier: BSD-3-Clause
// Messages that land in the vector in several runs: which may, how they are put, how they arrive.
#include <array>
#include <cstring>
#include <optional>

#include "parts_fixture.hpp"
#include "threads/executor/arrivals.hpp"
#include "threads/executor/poster.hpp"
#include "threads/kernels/checksum.hpp"

namespace trefoil::test {
namespace {

constexpr std::size_t kib = 1024;

class DirectRunsTest : public PartsFixture {
  protected:
    /// A message of so many bytes on channel 0, of which each `length` go to another place.
    Program receiver_of(std::size_t bytes, std::size_t length) {
        ProgramWriter w = writer();
        w.part();
        w.step();
        const Location landed = w.arrival(0, bytes);
        for (std::size_t i = 0; i < bytes; i += length) {
            ProgramOp op = ProgramOp::copy({Location::output, 2 * i}, {landed.space, i}, length);
            op.arrival = 0;
            w.after(op);
        }
        return w.take(false);
    }
    DirectProgram candidates(const Program& program) {
        return find_candidates(program, channels_, in_.data(), out_.data(), 4);
    }
    /// Its messages go to, or come in, the runs that `direct` says.
    void begin_direct_call(const Program& program, DirectProgram direct,
                           std::vector<DirectCall::Registered> registered = {}) {
        begin_call(program);
        direct_.emplace(std::vector<const Program*>{&program},
                        std::vector<DirectProgram>{std::move(direct)}, std::move(registered),
                        running_call_);
        running_call_.begin(call_, {in_.data(), out_.data(), &*direct_}, calls_);
    }

    std::vector<std::byte> in_ = std::vector<std::byte>(64 * kib),
                           out_ = std::vector<std::byte>(256 * kib);
    std::optional<DirectCall> direct_;
};

TEST_F(DirectRunsTest, AMessageOfSeveralRunsIsACandidate) {
    const DirectProgram direct = candidates(receiver_of(6 * kib, 2 * kib));
    const auto runs = direct.runs.of(0);
    ASSERT_EQ(runs.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(runs[i].target, 4 * kib * i);
        EXPECT_EQ(runs[i].bytes, 2 * kib);
    }
    EXPECT_EQ(direct.incoming.size(), 1U);
}

TEST_F(DirectRunsTest, NotIfItsRunsAreManyOrShort) {
    EXPECT_EQ(candidates(receiver_of(64 * kib, kib)).runs.of(0).size(), 64U);
    EXPECT_TRUE(candidates(receiver_of(65 * kib, kib)).runs.of(0).empty());
    EXPECT_TRUE(candidates(receiver_of(2 * (kib - 4), kib - 4)).runs.of(0).empty());
    EXPECT_EQ(candidates(receiver_of(4, 4)).runs.of(0).size(), 1U) << "one may be short";
}

TEST_F(DirectRunsTest, NotIfOneOfThemGoesElsewhereOrIsTouched) {
    Program program = receiver_of(4 * kib, 2 * kib);
    program.ops.back().target.space = Location::scratch;
    EXPECT_TRUE(candidates(program).runs.of(0).empty());
    program = receiver_of(4 * kib, 2 * kib);
    program.ops.back().target.offset = kib;  // they overlap
    EXPECT_TRUE(candidates(program).runs.of(0).empty());
}

TEST_F(DirectRunsTest, APermissionWaitsForWhateverTouchesAnyOfThem) {
    for (const std::size_t touched : {std::size_t{0}, 4 * kib}) {
        ProgramWriter w = writer();
        w.part();
        w.step();
        w.put(1, {Location::output, touched}, 4);
        w.step();
        const Location landed = w.arrival(0, 4 * kib);
        for (const std::size_t at : {std::size_t{0}, 2 * kib}) {
            ProgramOp op = ProgramOp::copy({Location::output, 2 * at}, {landed.space, at}, 2 * kib);
            op.arrival = 0;
            w.after(op);
        }
        const DirectProgram direct = candidates(w.take(false));
        ASSERT_EQ(direct.incoming.size(), 1U);
        ASSERT_EQ(direct.incoming[0].after.size(), 1U) << touched;
        EXPECT_EQ(direct.incoming[0].after[0].step, 0U);
    }
}

/// The peer behind channel 0 has said where three runs of a message of 24 bytes go.
class PuttingInRuns : public DirectRunsTest {
  protected:
    static constexpr std::uint64_t base = 100;  ///< of the vector, in the peer's registration

    PuttingInRuns() {
        const std::array<DirectRun, 3> runs{{{0, 4}, {40, 12}, {80, 8}}};
        there_.base = base;
        there_.memory.bytes = 1000;
        there_.runs.resize(1);
        there_.runs[0].resize(1);
        there_.runs[0].set(0, runs);
        for (std::size_t i = 0; i < in_.size(); ++i) {
            in_[i] = static_cast<std::byte>(i);
        }
    }
    RunningSegment& begin(const Program& program,
                          std::vector<DirectCall::Registered> registered = {}) {
        DirectProgram direct;
        direct.outgoing = {&there_};
        begin_direct_call(program, std::move(direct), std::move(registered));
        poster_ = std::make_unique<Poster>(0, 0, channels_, parts_->queue, parts_->steps,
                                           parts_->failure, notes_);
        RunningSegment& segment = begin_segment();
        make_room([&](const ProgramSizes& sizes) { poster_->make_room(sizes, segment); });
        poster_->adopt(segment);
        return segment;
    }
    void ready(const RunningSegment& segment) {
        channels_.out[0].permissions.take(segment.out_use(0), direct_->sign());
    }
    const std::vector<Put>& puts() const { return groups_[0]->puts; }
    static Program of_one_place(bool gathers) {
        ProgramWriter w({0, 0});
        w.part();
        w.step();
        if (gathers) {
            w.gathered_put(0, {Location::input, 8}, 24);
        } else {
            w.put(0, {Location::input, 8}, 24);
        }
        w.step();
        w.put(1, {Location::input, 0}, 4);
        return w.take(false);
    }
    void expect_runs() const {
        const std::array<std::uint64_t, 3> offsets{100, 140, 180};
        const std::array<std::size_t, 3> bytes{4, 12, 8}, from{8, 12, 24};
        ASSERT_GE(puts().size(), 3U);
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_EQ(puts()[i].offset, offsets[i]);
            EXPECT_EQ(puts()[i].bytes, bytes[i]);
            EXPECT_EQ(std::memcmp(puts()[i].source, &in_[from[i]], bytes[i]), 0);
            EXPECT_EQ(puts()[i].notification, puts()[0].notification) << "one message";
        }
    }

    DirectOutgoing there_;
    std::unique_ptr<Poster> poster_;
};

TEST_F(PuttingInRuns, EachRunIsPutFromWhereItLies) {
    const Program program = of_one_place(false);
    const RunningSegment& segment = begin(program);
    EXPECT_FALSE(poster_->post_ready()) << "no permission has come";
    ready(segment);
    EXPECT_TRUE(poster_->post_ready());
    expect_runs();
    EXPECT_EQ(puts()[1].source, &in_[12]);
    const Notification got = Notification::decode(puts()[0].notification);
    EXPECT_EQ(got.encode(),
              Notification(got).signed_for(running_call_.hash(), 24, 0).landed_directly().encode());
    EXPECT_EQ(channels_.out[0].bytes, 24U);
    EXPECT_EQ(channels_.out[0].staged, 0U);
}

TEST_F(PuttingInRuns, TheStepEndsWhenAllRunsHaveLeft) {
    const Program program = of_one_place(false);
    RunningSegment& segment = begin(program);
    ready(segment);
    EXPECT_TRUE(poster_->post_ready());
    EXPECT_EQ(poster_->leaving(), 3U);
    for (int left = 0; left < 3; ++left) {
        EXPECT_EQ(segment.open_step(0), 0U) << left;
        parts_->steps.count_event(segment, 0, notes_);
    }
    EXPECT_EQ(segment.open_step(0), 1U);
}

TEST_F(PuttingInRuns, ThosePutAtOnceEndTheStepWithTheLastOne) {
    const Program program = of_one_place(false);
    const RunningSegment& segment = begin(program);
    ready(segment);
    groups_[0]->result = PutResult::done;
    groups_[0]->accepts = 2;
    EXPECT_TRUE(poster_->post_ready());
    EXPECT_EQ(segment.open_step(0), 0U);
    groups_[0]->accepts = 100;
    EXPECT_TRUE(poster_->post_ready());
    EXPECT_EQ(puts().size(), 4U);
    EXPECT_TRUE(running_call_.done());
}

TEST_F(PuttingInRuns, ARefusedRunIsTriedAgainAndNoneTwice) {
    const Program program = of_one_place(false);
    const RunningSegment& segment = begin(program);
    ready(segment);
    for (std::size_t room = 0; room < 3; ++room) {
        groups_[0]->accepts = room;
        EXPECT_EQ(poster_->post_ready(), room > 0);
        EXPECT_TRUE(poster_->refused());
        EXPECT_EQ(puts().size(), room);
        EXPECT_FALSE(poster_->post_ready()) << "nothing new";
    }
    groups_[0]->accepts = 100;
    EXPECT_TRUE(poster_->post_ready());
    EXPECT_EQ(puts().size(), 3U);
    expect_runs();
    for (int left = 0; left < 3; ++left) {
        EXPECT_EQ(segment.open_step(0), 0U) << left;
        parts_->steps.count_event(parts_->queue.at(0), 0, notes_);
    }
    EXPECT_EQ(segment.open_step(0), 1U);
}

TEST_F(PuttingInRuns, WhatMustBeRegisteredAndIsNotIsGatheredRunByRun) {
    groups_[0]->traits().needs_registered_source = true;
    const Program program = of_one_place(true);
    // The first two runs are registered.
    const RunningSegment& segment =
        begin(program, {{0, {in_.data(), 24, in_.data() + 1}, 0, 0, {}}});
    ready(segment);
    EXPECT_TRUE(poster_->post_ready());
    expect_runs();
    EXPECT_EQ(puts()[0].source, &in_[8]);
    EXPECT_EQ(puts()[1].source, &in_[12]);
    EXPECT_EQ(puts()[2].source, segment.staging().of(0).data + 16);
    EXPECT_EQ(channels_.out[0].staged, 8U);
}

TEST_F(PuttingInRuns, AMessageThatLiesInSeveralPlacesIsCutAsItsReceiverWants) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    w.gathered_put(0, {Location::input, 8}, 24);
    Program program = w.take(false);
    // Ten bytes and fourteen, which lie the other way round.
    program.ops[0].elements = 10;
    program.ops.push_back(ProgramOp::copy({Location::output, 10}, {Location::input, 200}, 14));
    program.puts[0].packs.count = 2;
    channels_.checksums = true;
    const RunningSegment& segment = begin(program);
    ready(segment);
    EXPECT_TRUE(poster_->post_ready());
    ASSERT_EQ(puts().size(), 3U);
    std::vector<std::byte> all;
    for (const auto& put : puts()) {
        const auto* const source = static_cast<const std::byte*>(put.source);
        all.insert(all.end(), source, source + put.bytes);
    }
    std::vector<std::byte> message(&in_[8], &in_[18]);
    message.insert(message.end(), &in_[200], &in_[214]);
    EXPECT_EQ(all, message);
    EXPECT_EQ(puts()[0].source, &in_[8]);
    EXPECT_EQ(puts()[2].source, &in_[206]);
    const Notification got = Notification::decode(puts()[2].notification);
    EXPECT_EQ(got.check,
              Notification(got)
                  .signed_for(running_call_.hash(), 24, crc32c(message.data(), message.size()))
                  .check);
}

TEST_F(PuttingInRuns, RunsThatAreNotTheMessagesAreRefused) {
    const std::array<DirectRun, 2> shorter{{{0, 4}, {40, 12}}};
    there_.runs[0].set(0, shorter);
    const Program program = of_one_place(false);
    ready(begin(program));
    EXPECT_FALSE(poster_->post_ready());
    EXPECT_TRUE(puts().empty());
    EXPECT_EQ(parts_->failure.status(), Status::mismatch);
}

TEST_F(PuttingInRuns, ARunOutsideOfThePeersMemoryIsRefused) {
    const std::array<DirectRun, 2> outside{{{0, 4}, {881, 20}}};
    there_.runs[0].set(0, outside);
    const Program program = of_one_place(false);
    ready(begin(program));
    EXPECT_FALSE(poster_->post_ready());
    EXPECT_TRUE(puts().empty());
    EXPECT_EQ(parts_->failure.status(), Status::mismatch);
}

class ArrivingInRuns : public DirectRunsTest {
  protected:
    RunningSegment& begin() {
        program_ = receiver_of(6 * kib, 2 * kib);
        program_.arrival_copies[0] = 6 * kib;
        begin_direct_call(program_, candidates(program_));
        arrivals_.emplace(0, channels_, parts_->queue, parts_->steps, *controls_, parts_->failure,
                          notes_);
        make_room([&](const ProgramSizes& sizes) { arrivals_->make_room(sizes); });
        RunningSegment& segment = begin_segment();
        arrivals_->adopt(segment);
        parts_->steps.release(segment, notes_);  // no puts
        return segment;
    }
    void arrive(std::uint32_t checksum = 0) {
        const Notification in_slot =
            Notification::decode(message(0, 0, 0, program_.arrival_bytes[0], checksum));
        (void)arrivals_->arrive(in_slot.landed_directly().encode(), 0);
    }

    void begin_with_sum() {
        channels_.checksums = true;
        (void)begin();
        for (std::size_t i = 0; i < 3; ++i) {
            std::fill_n(&out_[4 * kib * i], 2 * kib, static_cast<std::byte>(i + 1));
            checksum_ = crc32c(&out_[4 * kib * i], 2 * kib, checksum_);
        }
    }

    Program program_;
    std::optional<Arrivals> arrivals_;
    std::uint32_t checksum_ = 0;
};

TEST_F(ArrivingInRuns, TheLastOneIsTheEvent) {
    std::fill(out_.begin(), out_.end(), std::byte{9});
    const RunningSegment& segment = begin();
    arrive();
    arrive();
    EXPECT_TRUE(segment.running());
    EXPECT_EQ(channels_.in[0].bytes, 0U);
    arrive();
    EXPECT_FALSE(segment.running());
    EXPECT_EQ(channels_.in[0].bytes, 6 * kib);
    EXPECT_EQ(channels_.in[0].copied, 0U);
    EXPECT_EQ(out_[0], std::byte{9}) << "nothing was copied over it";
    EXPECT_FALSE(parts_->failure.happened()) << parts_->failure.text();
}

TEST_F(ArrivingInRuns, OneMoreIsADefect) {
    begin();
    for (int i = 0; i < 4; ++i) {
        EXPECT_FALSE(parts_->failure.happened());
        arrive();
    }
    EXPECT_EQ(parts_->failure.status(), Status::internal);
}

TEST_F(ArrivingInRuns, SoIsTheWholeMessageAfterARun) {
    begin();
    arrive();
    (void)arrivals_->arrive(message(0, 0, 0, 6 * kib), 0);
    EXPECT_EQ(parts_->failure.status(), Status::internal);
}

TEST_F(ArrivingInRuns, ItsChecksumIsThatOfAllRuns) {
    begin_with_sum();
    arrive(checksum_);
    arrive(checksum_);
    arrive(checksum_);
    EXPECT_FALSE(parts_->failure.happened()) << parts_->failure.text();
}

TEST_F(ArrivingInRuns, AChangedBitInOneOfThemIsFound) {
    begin_with_sum();
    out_[4 * kib] ^= std::byte{1};
    arrive(checksum_);
    arrive(checksum_);
    EXPECT_FALSE(parts_->failure.happened()) << "the others may still be under way";
    arrive(checksum_);
    EXPECT_EQ(parts_->failure.status(), Status::system_error);
}

}  // namespace
}  // namespace trefoil::test
