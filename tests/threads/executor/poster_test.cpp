// SPDX-License-Identifier: BSD-3-Clause
// Posting alone: the order of puts, what they carry, and what they wait for.
#include "threads/executor/poster.hpp"

#include <cstring>

#include "parts_fixture.hpp"
#include "threads/kernels/checksum.hpp"

namespace trefoil::test {
namespace {

class PosterTest : public PartsFixture {
  protected:
    static constexpr std::uint32_t executor = 3;  ///< what cookies call it

    explicit PosterTest(int groups = 1) : PartsFixture(groups) {}
    void make_poster(int group = 0) {
        poster_ = std::make_unique<Poster>(group, executor, channels_, parts_->queue, parts_->steps,
                                           parts_->failure, notes_);
    }
    RunningSegment& begin() {
        RunningSegment& segment = begin_segment();
        make_room([&](const ProgramSizes& sizes) { poster_->make_room(sizes, segment); });
        poster_->adopt(segment);
        return segment;
    }
    const std::vector<Put>& puts() const { return groups_[0]->puts; }
    Notification notification(std::size_t put) const {
        return Notification::decode(puts()[put].notification);
    }
    /// All that was queued has left, as the worker would take it.
    void complete_puts() {
        groups_[0]->complete_puts();
        for (; !groups_[0]->events.empty(); groups_[0]->events.pop_front()) {
            const PutCookie cookie(groups_[0]->events.front().cookie);
            if (cookie.step() != PutCookie::no_step) {
                parts_->steps.count_event(parts_->queue.at(cookie.place()), cookie.step(), notes_);
            }
        }
    }

    std::unique_ptr<Poster> poster_;
};

TEST_F(PosterTest, PutsOfAnOpenStepLeaveWithAllThatThePeerNeeds) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    w.put(0, {Location::input, 8}, 12);
    w.put(1, {Location::input, 0}, 4);
    w.put(0, {Location::input, 4}, 20);
    const Program program = w.take(false);
    make_poster();
    begin_call(program);
    begin();
    EXPECT_TRUE(poster_->post_ready());
    ASSERT_EQ(puts().size(), 3U);
    EXPECT_EQ(puts()[0].source, input_.data() + 2);
    EXPECT_EQ(puts()[0].bytes, 12U);
    EXPECT_EQ(puts()[0].offset, offset_there);
    EXPECT_EQ(puts()[2].offset, offset_there + 12) << "behind the first on its channel";
    EXPECT_EQ(notification(0).channel, first_id);
    EXPECT_EQ(notification(1).channel, first_id + 1);
    EXPECT_EQ(notification(2).index, 1U);
    const Notification due = notification(2).signed_for(running_call_.hash(), 20, 0);
    EXPECT_EQ(notification(2).signature, due.signature);
    EXPECT_EQ(notification(2).check, due.check);
    EXPECT_FALSE(poster_->post_ready()) << "each once";
    EXPECT_EQ(channels_.out[0].puts, 2U);
    EXPECT_EQ(channels_.out[0].bytes, 32U);
    EXPECT_EQ(wires_[0].puts, 2U) << "what a farewell will say";
    EXPECT_EQ(wires_[1].puts, 1U);
}

TEST_F(PosterTest, ACookieTellsWhoseAPutIs) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    w.put(1, {Location::input, 0}, 4);
    const Program program = w.take(false);
    make_poster();
    begin_call(program);
    begin();
    EXPECT_TRUE(poster_->post_ready());
    const PutCookie cookie(puts()[0].cookie);
    EXPECT_TRUE(cookie.is_one());
    EXPECT_EQ(cookie.executor(), executor);
    EXPECT_EQ(cookie.channel(), 1U);
}

// Its source may be read until then, and a failed call waits for that.
TEST_F(PosterTest, PutsAreCountedUntilTheyHaveLeft) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    w.put(0, {Location::input, 0}, 4);
    w.put(1, {Location::input, 0}, 4);
    const Program program = w.take(false);
    make_poster();
    begin_call(program, 2);
    begin();
    EXPECT_TRUE(poster_->post_ready());
    EXPECT_EQ(poster_->leaving(), 2U);
    poster_->left();
    EXPECT_EQ(poster_->leaving(), 1U);
    groups_[0]->result = PutResult::done;
    begin();
    EXPECT_TRUE(poster_->post_ready());
    EXPECT_EQ(poster_->leaving(), 1U) << "what is done is not under way";
}

// The peer says where messages land when it comes to the call. Nothing else waits for that.
TEST_F(PosterTest, APutWaitsUntilItsChannelIsWired) {
    channels_.out[0].wired = false;
    channels_.out[0].wire = nullptr;
    ProgramWriter w = writer();
    for (const std::uint32_t channel : {0U, 1U}) {
        w.part();
        w.step();
        w.put(channel, {Location::input, 0}, 4 + 4 * channel);
    }
    const Program program = w.take(false);
    make_poster();
    begin_call(program);
    RunningSegment& segment = begin();
    EXPECT_TRUE(awaits_room(channels_, segment, program.puts[0]));
    EXPECT_TRUE(poster_->post_ready());
    ASSERT_EQ(puts().size(), 1U);
    EXPECT_EQ(puts()[0].bytes, 8U) << "that of the other part";
    EXPECT_FALSE(poster_->post_ready());
    EXPECT_FALSE(poster_->refused()) << "no reason to try again soon: the word will wake it";
    channels_.out[0].wire = &wires_[0];
    channels_.out[0].wired = true;
    EXPECT_TRUE(poster_->post_ready());
    ASSERT_EQ(puts().size(), 2U);
    EXPECT_EQ(puts()[1].bytes, 4U);
}

TEST_F(PosterTest, WithChecksumsAMessageCarriesThatOfItsBytes) {
    channels_.checksums = true;
    ProgramWriter w = writer();
    w.part();
    w.step();
    w.put(0, {Location::input, 8}, 12);
    const Program program = w.take(false);
    make_poster();
    begin_call(program);
    begin();
    EXPECT_TRUE(poster_->post_ready());
    const Notification due =
        notification(0).signed_for(running_call_.hash(), 12, crc32c(&input_[2], 12));
    EXPECT_EQ(notification(0).check, due.check);
}

TEST_F(PosterTest, TheNextStepsPutsWaitForItsOpening) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    w.put(0, {Location::input, 0}, 4);
    w.step();
    w.put(0, {Location::input, 4}, 4);
    const Program program = w.take(false);
    make_poster();
    begin_call(program);
    begin();
    EXPECT_TRUE(poster_->post_ready());
    EXPECT_FALSE(poster_->post_ready());
    EXPECT_EQ(puts().size(), 1U);
    complete_puts();
    EXPECT_TRUE(poster_->post_ready());
    EXPECT_EQ(puts().size(), 2U);
    complete_puts();
    EXPECT_TRUE(running_call_.done()) << "the poster has let go of the segment";
}

TEST_F(PosterTest, APutThatIsDoneAtOnceCountsAtOnce) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    w.put(0, {Location::input, 0}, 4);
    w.step();
    w.put(1, {Location::input, 4}, 4);
    const Program program = w.take(false);
    make_poster();
    begin_call(program);
    begin();
    groups_[0]->result = PutResult::done;
    EXPECT_TRUE(poster_->post_ready());
    EXPECT_EQ(puts().size(), 2U);
    EXPECT_TRUE(running_call_.done());
}

TEST_F(PosterTest, ARefusedPutIsTriedAgainAndNothingOvertakesItInItsPart) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    w.put(0, {Location::input, 0}, 4);
    w.put(1, {Location::input, 4}, 4);
    const Program program = w.take(false);
    make_poster();
    begin_call(program);
    begin();
    groups_[0]->result = PutResult::again;
    EXPECT_FALSE(poster_->post_ready());
    EXPECT_TRUE(poster_->refused());
    groups_[0]->result = PutResult::queued;
    EXPECT_TRUE(poster_->post_ready());
    EXPECT_FALSE(poster_->refused());
    ASSERT_EQ(puts().size(), 2U);
    EXPECT_EQ(puts()[0].bytes, 4U);
    EXPECT_EQ(puts()[0].port, channels_.out[0].port);
}

TEST_F(PosterTest, AFailedPutFailsTheCallAndNamesTheCause) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    w.put(1, {Location::input, 0}, 4);
    const Program program = w.take(false);
    make_poster();
    begin_call(program);
    begin();
    groups_[0]->result = PutResult::failed;
    EXPECT_FALSE(poster_->post_ready());
    EXPECT_EQ(parts_->failure.status(), Status::peer_lost);
    EXPECT_EQ(parts_->failure.cause().blame.culprit, 2);
    EXPECT_TRUE(parts_->failure.cause().tentative);
    EXPECT_NE(parts_->failure.text().find("the cable is cut"), std::string::npos);
}

// The landing slot of use 2 is another one, but the receiver may be no more than three uses behind.
TEST_F(PosterTest, InAFewSlotsAPutWaitsUntilTheUseBeforeTheLastOneIsAcknowledged) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    w.put(0, {Location::input, 0}, 4);
    Program program = w.take(false);
    program.acknowledged = true;  // by the peer; this rank receives nothing
    make_poster();
    begin_call(program, 5);
    for (std::uint32_t use = 0; use < 5; ++use) {
        RunningSegment& segment = begin();
        EXPECT_EQ(segment.out_use(0), use);
        EXPECT_EQ(awaits_room(channels_, segment, program.puts[0]), use >= 2);
        if (use >= 2) {
            EXPECT_FALSE(poster_->post_ready());
            EXPECT_EQ(puts().size(), use);
            acknowledge(0, use - 2);
        }
        EXPECT_TRUE(poster_->post_ready());
        ASSERT_EQ(puts().size(), use + 1);
        EXPECT_EQ(puts()[use].offset, offset_there + use % LandingRings::few_slots * slot_bytes);
        EXPECT_EQ(notification(use).use, use);
        complete_puts();
    }
}

TEST_F(PosterTest, AUseOfFewSlotsIsAcknowledgedWhenItStarts) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    (void)w.arrival(1, 4);
    const Program program = w.take(true);
    make_poster();
    begin_call(program, 3);
    for (std::uint32_t use = 0; use < 3; ++use) {
        RunningSegment& segment = begin();
        EXPECT_TRUE(poster_->post_ready());
        ASSERT_EQ(puts().size(), use + 1);
        EXPECT_EQ(puts()[use].notification,
                  acknowledgement(first_id + 1, use, few_ring, peers_proof + 1));
        EXPECT_EQ(puts()[use].bytes, 0U);
        EXPECT_FALSE(poster_->post_ready()) << "once";
        parts_->steps.count_event(segment, 0, notes_);
        complete_puts();
    }
    EXPECT_TRUE(running_call_.done());
}

TEST_F(PosterTest, AWordThatCannotBeSaidNowIsSaidLater) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    (void)w.arrival(1, 4);
    const Program program = w.take(true);
    make_poster();
    begin_call(program, 2);
    groups_[0]->result = PutResult::again;
    for (int use = 0; use < 2; ++use) {
        RunningSegment& segment = begin();
        (void)poster_->post_ready();
        EXPECT_TRUE(poster_->refused());
        parts_->steps.count_event(segment, 0, notes_);
    }
    EXPECT_TRUE(running_call_.done()) << "no call waits for its acknowledgements";
    groups_[0]->result = PutResult::queued;
    const std::size_t refused = puts().size();
    EXPECT_TRUE(poster_->post_ready());
    ASSERT_EQ(puts().size(), refused + 2);
    for (std::uint32_t use = 0; use < 2; ++use) {
        EXPECT_EQ(puts()[refused + use].notification,
                  acknowledgement(first_id + 1, use, few_ring, peers_proof + 1));
    }
}

TEST_F(PosterTest, UsesOfManySlotsAreAcknowledgedTogether) {
    channels_.in[1].ring = Ring::many;
    ProgramWriter w = writer();
    w.part();
    w.step();
    (void)w.arrival(1, 4);
    const Program program = w.take(true);
    make_poster();
    constexpr std::uint32_t uses = 3 * gathered_uses;
    begin_call(program, uses);
    for (std::uint32_t use = 0; use < uses; ++use) {
        RunningSegment& segment = begin();
        (void)poster_->post_ready();
        EXPECT_EQ(puts().size(), (use + 1) / gathered_uses);
        parts_->steps.count_event(segment, 0, notes_);
        complete_puts();
    }
    EXPECT_EQ(puts().back().notification,
              acknowledgement(first_id + 1, uses - 1, static_cast<std::uint32_t>(Ring::many),
                              peers_proof + 1));
}

TEST_F(PosterTest, WhatIsGatheredIsCopiedBeforeItIsPut) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    w.gathered_put(0, {Location::input, 4}, 8);
    const Program program = w.take(false);
    make_poster();
    begin_call(program);
    RunningSegment& segment = begin();
    EXPECT_TRUE(poster_->post_ready());
    ASSERT_EQ(puts().size(), 1U);
    EXPECT_EQ(puts()[0].source, segment.staging().of(0).data);
    EXPECT_EQ(std::memcmp(puts()[0].source, input_.data() + 1, 8), 0);
}

class PosterOfTwoGroups : public PosterTest {
  protected:
    PosterOfTwoGroups() : PosterTest(2) {}
};

TEST_F(PosterOfTwoGroups, LeavesThePutsOfOthersAlone) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    w.put(0, {Location::input, 0}, 4);
    w.put(1, {Location::input, 4}, 8);
    w.put(0, {Location::input, 8}, 12);
    const Program program = w.take(false);
    make_poster(1);
    begin_call(program);
    begin();
    EXPECT_TRUE(poster_->post_ready());
    EXPECT_TRUE(groups_[0]->puts.empty());
    ASSERT_EQ(groups_[1]->puts.size(), 1U);
    EXPECT_EQ(groups_[1]->puts[0].bytes, 8U);
}

}  // namespace
}  // namespace trefoil::test
