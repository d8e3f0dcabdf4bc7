// SPDX-License-Identifier: BSD-3-Clause
// Arrivals alone: messages in time, early, unexpected, twice; and what is no message.
#include "threads/executor/arrivals.hpp"

#include <algorithm>

#include "parts_fixture.hpp"
#include "threads/kernels/checksum.hpp"

namespace trefoil::test {
namespace {

class ArrivalsTest : public PartsFixture {
  protected:
    ArrivalsTest() {
        ProgramWriter w = writer();
        w.part();
        w.step();
        (void)w.arrival(0, 12);
        (void)w.arrival(1, 4);
        w.step();
        (void)w.arrival(0, 8);
        program_ = w.take(false);
        arrivals_ = std::make_unique<Arrivals>(0, channels_, parts_->queue, parts_->steps,
                                               *controls_, parts_->failure, notes_);
        begin_call(program_, 4);
        make_room([&](const ProgramSizes& sizes) { arrivals_->make_room(sizes); });
    }
    RunningSegment& begin() {
        RunningSegment& segment = begin_segment();
        arrivals_->adopt(segment);
        parts_->steps.release(segment, notes_);  // no puts
        return segment;
    }
    /// As the group's wiring says which channel it is of.
    void arrive(std::uint32_t channel, std::uint64_t bits) {
        (void)arrivals_->arrive(bits, channel);
    }
    void arrive_all(std::uint32_t use) {
        arrive(0, message(0, 0, use, 12));
        arrive(1, message(1, 0, use, 4));
        arrive(0, message(0, 1, use, 8));
    }

    Program program_;
    std::uint32_t uses_ = 0;  ///< of each channel so far
    std::unique_ptr<Arrivals> arrivals_;
};

TEST_F(ArrivalsTest, MessagesAreEventsOfTheirSteps) {
    RunningSegment& segment = begin();
    arrive(1, message(1, 0, 0, 4));
    EXPECT_EQ(segment.open_step(0), 0U);
    arrive(0, message(0, 0, 0, 12));
    EXPECT_EQ(segment.open_step(0), 1U);
    arrive(0, message(0, 1, 0, 8));
    EXPECT_FALSE(segment.running());
    EXPECT_FALSE(parts_->failure.happened()) << parts_->failure.text();
}

TEST_F(ArrivalsTest, InAnyOrder) {
    RunningSegment& segment = begin();
    arrive(0, message(0, 1, 0, 8));
    arrive(0, message(0, 0, 0, 12));
    EXPECT_EQ(segment.open_step(0), 0U);
    arrive(1, message(1, 0, 0, 4));
    EXPECT_FALSE(segment.running());
}

TEST_F(ArrivalsTest, WhatComesBeforeItsSegmentHasBegunWaits) {
    arrive_all(0);
    EXPECT_EQ(arrivals_->early(), 3U);
    RunningSegment& segment = begin();
    EXPECT_EQ(arrivals_->early(), 0U);
    EXPECT_FALSE(segment.running());
}

TEST_F(ArrivalsTest, EachEarlyMessageWaitsForItsOwnUse) {
    arrive(1, message(1, 0, 2, 4));  // between calls
    arrive_all(1);
    EXPECT_EQ(arrivals_->early(), 4U);
    EXPECT_TRUE(begin().running());
    EXPECT_EQ(arrivals_->early(), 4U);
    EXPECT_FALSE(begin().running());
    EXPECT_EQ(arrivals_->early(), 1U);
    arrive_all(0);  // ends the first
    RunningSegment& third = begin();
    EXPECT_EQ(arrivals_->early(), 0U);
    arrive(0, message(0, 0, 2, 12));
    EXPECT_EQ(third.open_step(0), 1U);
    EXPECT_FALSE(parts_->failure.happened()) << parts_->failure.text();
}

// Numbers of uses repeat: the next use of a number is not the last one's.
TEST_F(ArrivalsTest, AUseToComeIsNotTakenForAnEarlierOneOfTheSameNumber) {
    for (const auto& [bits, ahead] : {std::pair{64, 127U}, std::pair{32, 3U}}) {
        groups_[0]->traits().notification_bits = bits;
        Arrivals arrivals(0, channels_, parts_->queue, parts_->steps, *controls_, parts_->failure,
                          notes_);
        const std::uint32_t first = uses_;
        begin_call(program_, 600);
        make_room([&](const ProgramSizes& sizes) { arrivals.make_room(sizes); });
        const std::uint64_t carried = bits == 64 ? ~std::uint64_t{0} : 0xffffffffU;
        const auto come = [&](std::uint32_t channel, std::uint32_t index, std::uint32_t use,
                              std::size_t bytes) {
            (void)arrivals.arrive(message(channel, index, use, bytes) & carried, channel);
        };
        for (std::uint32_t use = 0; use < ahead; ++use) {
            come(1, 0, first + use, 4);
        }
        for (std::uint32_t use = 0; use < 600; ++use, ++uses_) {
            come(1, 0, first + use + ahead, 4);
            EXPECT_EQ(arrivals.early(), ahead + 1);
            RunningSegment& segment = begin_segment();
            arrivals.adopt(segment);
            parts_->steps.release(segment, notes_);
            EXPECT_EQ(arrivals.early(), ahead) << use;
            come(0, 0, first + use, 12);
            come(0, 1, first + use, 8);
            ASSERT_FALSE(segment.running()) << use;
        }
        ASSERT_FALSE(parts_->failure.happened()) << parts_->failure.text();
    }
}

TEST_F(ArrivalsTest, AMessageOfAnotherLengthIsAMismatch) {
    begin();
    arrive(0, message(0, 0, 0, 16));
    EXPECT_EQ(parts_->failure.status(), Status::mismatch);
    EXPECT_EQ(parts_->failure.text(),
              "rank 1 and rank 0 make different calls; rank 0's is the test's call; give all ranks "
              "the same");
}

TEST_F(ArrivalsTest, AMessageThatTheCallDoesNotHaveIsAMismatch) {
    begin();
    arrive(1, message(1, 1, 0, 4));
    EXPECT_EQ(parts_->failure.status(), Status::mismatch);
}

TEST_F(ArrivalsTest, AMessageOfAnotherCallIsAMismatch) {
    begin();
    const Notification right = Notification::decode(message(1, 0, 0, 4));
    arrive(1, right.signed_for(~running_call_.hash(), 4, 0).encode());
    EXPECT_EQ(parts_->failure.status(), Status::mismatch);
}

/// Such as come once in 64 calls by chance.
std::uint64_t with_another_check(std::uint64_t bits) {
    return bits ^ std::uint64_t{1} << 40;
}

TEST_F(ArrivalsTest, EqualSignatureBitsDoNotHideAnotherCall) {
    begin();
    arrive(1, with_another_check(message(1, 0, 0, 4)));
    EXPECT_EQ(parts_->failure.status(), Status::mismatch);
}

TEST_F(ArrivalsTest, WhatTheTransportDoesNotCarryIsNotCompared) {
    groups_[0]->traits().notification_bits = 32;
    Arrivals narrow(0, channels_, parts_->queue, parts_->steps, *controls_, parts_->failure,
                    notes_);
    make_room([&](const ProgramSizes& sizes) { narrow.make_room(sizes); });
    RunningSegment& segment = begin_segment();
    narrow.adopt(segment);
    (void)narrow.arrive(message(1, 0, 0, 4) & 0xffffffffU, 1);
    EXPECT_FALSE(parts_->failure.happened()) << parts_->failure.text();
    const Notification right = Notification::decode(message(0, 0, 0, 12));
    (void)narrow.arrive(right.signed_for(~running_call_.hash(), 12, 0).encode() & 0xffffffffU, 0);
    EXPECT_EQ(parts_->failure.status(), Status::mismatch);
}

TEST_F(ArrivalsTest, AChangedBitIsFoundByTheChecksum) {
    channels_.checksums = true;
    begin();
    // The second message of the channel's first use, behind 12 bytes.
    std::byte* const landed = channels_.in[0].landing + 12;
    std::fill_n(landed, 8, std::byte{0x5a});
    const std::uint32_t checksum = crc32c(landed, 8);
    arrive(0, message(0, 1, 0, 8, checksum));
    EXPECT_FALSE(parts_->failure.happened()) << parts_->failure.text();
    arrive(1, message(1, 0, 0, 4, crc32c(channels_.in[1].landing, 4) ^ 8U));
    EXPECT_EQ(parts_->failure.status(), Status::system_error);
    EXPECT_NE(parts_->failure.text().find("checksum of a message from rank 2"), std::string::npos)
        << parts_->failure.text();
}

TEST_F(ArrivalsTest, AMessageThatComesTwiceIsADefect) {
    begin();
    arrive(1, message(1, 0, 0, 4));
    arrive(1, message(1, 0, 0, 4));
    EXPECT_EQ(parts_->failure.status(), Status::internal);
    EXPECT_NE(parts_->failure.text().find("twice"), std::string::npos);
}

TEST_F(ArrivalsTest, OneThatComesTwiceIsFoundWhenItsSegmentHasEnded) {
    begin_call(program_, 20);
    EXPECT_TRUE(begin().running());
    arrive_all(0);
    EXPECT_TRUE(begin().running());
    EXPECT_TRUE(begin().running()) << "in the place of the first";
    arrive(1, message(1, 0, 0, 4));
    EXPECT_EQ(parts_->failure.status(), Status::internal);
    EXPECT_NE(parts_->failure.text().find("twice"), std::string::npos);
}

TEST_F(ArrivalsTest, OneMoreThanAFinishedCallHadIsAMismatch) {
    begin_call(program_, 20);
    EXPECT_TRUE(begin().running());
    arrive_all(0);
    arrive(1, message(1, 5, 0, 4));
    EXPECT_EQ(parts_->failure.status(), Status::mismatch);
}

// A call that this rank has not begun may have more channels than those before it.
TEST_F(ArrivalsTest, AMessageOfANewChannelWaitsUntilAProgramKnowsIt) {
    begin();
    const std::uint32_t added = channels_.add_in(3, Port{0});
    arrive(added, Notification{0, id_of(added), 0, 0}.encode());
    EXPECT_EQ(arrivals_->early(), 1U);
    EXPECT_FALSE(parts_->failure.happened()) << parts_->failure.text();
}

TEST_F(ArrivalsTest, AnAcknowledgementGoesToTheOppositeChannel) {
    (void)channels_.out[1].uses.begin(true, Ring::few);
    (void)channels_.out[1].uses.begin(true, Ring::few);
    const std::uint32_t third = channels_.out[1].uses.begin(true, Ring::few);
    arrive(0, started(0, 0).encode());
    EXPECT_FALSE(channels_.out[1].uses.may_put(third, Ring::few));
    EXPECT_TRUE(arrivals_->arrive(started(1, 0).encode(), 1)) << "a put may leave by it";
    EXPECT_TRUE(channels_.out[1].uses.may_put(third, Ring::few));
    EXPECT_EQ(arrivals_->early(), 0U);
}

TEST_F(ArrivalsTest, AnAcknowledgementWithoutTheProofIsAStrangers) {
    (void)channels_.out[1].uses.begin(true, Ring::few);
    (void)channels_.out[1].uses.begin(true, Ring::few);
    const std::uint32_t third = channels_.out[1].uses.begin(true, Ring::few);
    EXPECT_FALSE(arrivals_->arrive(acknowledgement(id_of(1), 0, few_ring, own_proof(1) + 1), 1));
    EXPECT_FALSE(channels_.out[1].uses.may_put(third, Ring::few));
    EXPECT_EQ(controls_->refused(), 1U);
    groups_[0]->traits().notification_bits = 32;  // without room for it
    EXPECT_TRUE(arrivals_->arrive(acknowledgement(id_of(1), 0, few_ring) & 0xffffffffU, 1));
    EXPECT_TRUE(channels_.out[1].uses.may_put(third, Ring::few));
}

// The receiver may have started a call that the sender does not know yet.
TEST_F(ArrivalsTest, AnAcknowledgementWaitsUntilItsChannelIsThere) {
    const std::uint32_t alone = channels_.add_in(3, Port{0}, Ring::tiny);
    EXPECT_FALSE(arrivals_->arrive(acknowledgement(id_of(alone), 0, few_ring), alone));
    EXPECT_FALSE(arrivals_->arrive(acknowledgement(id_of(alone), 0, few_ring, 77), alone));
    EXPECT_EQ(controls_->refused(), 1U) << "that was a stranger's";
    OutChannel& out = channels_.out[channels_.add_out(3, Port{0})];
    controls_->take_early_words(0);
    for (int use = 0; use < 2; ++use) {
        (void)out.uses.begin(true, Ring::few);
    }
    EXPECT_TRUE(out.uses.may_put(out.uses.begin(true, Ring::few), Ring::few));
    EXPECT_TRUE(arrivals_->arrive(acknowledgement(id_of(alone), 1, few_ring), alone));
    EXPECT_TRUE(out.uses.may_put(out.uses.begin(true, Ring::few), Ring::few));
}

}  // namespace
}  // namespace trefoil::test
