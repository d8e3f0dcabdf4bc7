// SPDX-License-Identifier: BSD-3-Clause
// Calls whose messages are stores: what is sent when, what waits for what, when slots are used
// again, and what is found out about peers that make other calls.
#include "threads/executor/stored_calls.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <utility>

#include "storing_ranks.hpp"

namespace trefoil::test {
namespace {

constexpr std::size_t bytes = 8;

/// The rank sends its input.
Program sending(std::size_t length = bytes) {
    ProgramWriter writer = StoringRank::writer();
    writer.part();
    writer.step();
    writer.put(0, {Location::input, 0}, length);
    return writer.take(false);
}

/// The rank's output becomes what it receives.
Program receiving(std::size_t length = bytes) {
    ProgramWriter writer = StoringRank::writer();
    writer.part();
    writer.step();
    const Location landed = writer.arrival(0, length);
    writer.after(ProgramOp::copy({Location::output, 0}, landed, length));
    return writer.take(false);
}

/// Both ranks send in each step, and what has come is sent on in the next one.
Program exchanging(int steps) {
    ProgramWriter writer = StoringRank::writer();
    writer.part();
    for (int step = 0; step < steps; ++step) {
        writer.step();
        writer.put(0, {step == 0 ? Location::input : Location::output, 0}, bytes);
        const Location landed = writer.arrival(0, bytes);
        writer.after(ProgramOp::copy({Location::output, 0}, landed, bytes));
    }
    return writer.take(false);
}

void fill(StoringRank& rank, int value) {
    rank.input.fill(static_cast<std::byte>(value));
}
int result(const StoringRank& rank, std::size_t at = 0) {
    return std::to_integer<int>(rank.output[at]);
}
std::uint64_t taken(StoringRank& receiver) {
    return *receiver.channels.in[0].end.taken;
}

TEST(StoredCalls, AMessageIsWaitedForAndTaken) {
    StoringRanks ranks;
    const Program sends = sending(), receives = receiving();
    RunningCall sent, received;
    ranks.second.issue(received, receives);
    EXPECT_TRUE(ranks.second.advance()) << "it begins";
    EXPECT_FALSE(ranks.second.advance()) << "and waits";
    EXPECT_TRUE(ranks.second.parts->stored.wait_for_flags());
    EXPECT_FALSE(ranks.second.parts->stored.may_go_on());
    const std::vector<Missing> missing = ranks.second.parts->stored.missing(nullptr);
    ASSERT_EQ(missing.size(), 1U);
    EXPECT_EQ(missing[0].kind, Missing::Kind::message);
    EXPECT_EQ(missing[0].peer, 0);

    fill(ranks.first, 7);
    ranks.first.issue(sent, sends);
    EXPECT_TRUE(ranks.first.advance());
    EXPECT_TRUE(sent.done()) << "who only sends waits for nobody";
    EXPECT_EQ(ranks.first.group->rings, 1);
    EXPECT_TRUE(ranks.second.parts->stored.may_go_on());
    EXPECT_FALSE(received.done());
    EXPECT_TRUE(ranks.second.advance());
    EXPECT_TRUE(received.done());
    EXPECT_EQ(result(ranks.second), 7);
    EXPECT_EQ(result(ranks.second, bytes), 0) << "no more than the message";
    EXPECT_EQ(taken(ranks.second), 1U);
    EXPECT_EQ(ranks.second.parts->in_flight.count(), 0U);
    EXPECT_EQ(ranks.second.channels.in[0].bytes, bytes);
    EXPECT_EQ(ranks.first.channels.out[0].bytes, bytes);
    EXPECT_EQ(ranks.first.channels.out[0].puts, 1U);
}

TEST(StoredCalls, EachStepWaitsForTheOneBefore) {
    StoringRanks ranks;
    const Program program = exchanging(3);
    RunningCall calls[2];
    fill(ranks.first, 1);
    fill(ranks.second, 2);
    ranks.first.issue(calls[0], program);
    ranks.second.issue(calls[1], program);
    (void)ranks.first.advance();
    EXPECT_EQ(ranks.first.channels.out[0].puts, 1U) << "nothing has come for the second step";
    (void)ranks.second.advance();
    EXPECT_EQ(ranks.second.channels.out[0].puts, 2U) << "it has the first message";
    (void)ranks.first.advance();
    EXPECT_EQ(ranks.first.channels.out[0].puts, 3U);
    (void)ranks.second.advance();
    EXPECT_TRUE(calls[1].done());
    (void)ranks.first.advance();
    EXPECT_TRUE(calls[0].done());
    // 1 and 2 change places three times.
    EXPECT_EQ(result(ranks.first), 2);
    EXPECT_EQ(result(ranks.second), 1);
}

TEST(StoredCalls, ASlotIsUsedAgainWhenItsMessageHasBeenTaken) {
    StoringRanks ranks;
    const Program sends = sending(), receives = receiving();
    constexpr int slots = LandingRings::stored_few_slots, more = 3;
    std::deque<RunningCall> sent(slots + more), received(slots + more);
    for (int i = 0; i < slots + more; ++i) {
        fill(ranks.first, 1 + i);
        ranks.first.issue(sent[static_cast<std::size_t>(i)], sends);
        (void)ranks.first.advance();
        EXPECT_EQ(sent[static_cast<std::size_t>(i)].done(), i < slots);
    }
    const std::vector<Missing> missing = ranks.first.parts->stored.missing(nullptr);
    ASSERT_EQ(missing.size(), std::size_t{more});
    EXPECT_EQ(missing[0].kind, Missing::Kind::room);
    EXPECT_TRUE(ranks.first.parts->stored.wait_for_flags());
    EXPECT_FALSE(ranks.first.parts->stored.may_go_on());
    for (int i = 0; i < slots + more; ++i) {
        ranks.second.issue(received[static_cast<std::size_t>(i)], receives);
        (void)ranks.second.advance();
        ASSERT_TRUE(received[static_cast<std::size_t>(i)].done()) << i;
        // Those that waited read the input when there was room: the last one's.
        EXPECT_EQ(result(ranks.second), i < slots ? 1 + i : slots + more);
        EXPECT_EQ(taken(ranks.second), static_cast<std::uint64_t>(i) + 1);
        EXPECT_EQ(ranks.first.parts->stored.may_go_on(), i < more);
        (void)ranks.first.advance();
    }
    EXPECT_TRUE(sent.back().done());
}

TEST(StoredCalls, OfALongRingEachQuarterIsTold) {
    StoringRanks ranks(Ring::tiny);
    const Program sends = sending(), receives = receiving();
    constexpr std::uint64_t quarter = LandingRings::tiny_slots / 4;
    for (std::uint64_t use = 1; use <= 5 * quarter; ++use) {
        RunningCall sent, received;
        ranks.first.issue(sent, sends);
        ranks.second.issue(received, receives);
        (void)ranks.first.advance();
        (void)ranks.second.advance();
        ASSERT_TRUE(sent.done() && received.done()) << use;
        ASSERT_EQ(taken(ranks.second), use / quarter * quarter);
    }
}

TEST(StoredCalls, WhatAnEarlierUseLeftIsNoMessage) {
    StoringRanks ranks;
    const Program sends = sending(), receives = receiving();
    constexpr int slots = LandingRings::stored_few_slots;
    for (int i = 0; i < slots; ++i) {
        RunningCall sent, received;
        ranks.first.issue(sent, sends);
        ranks.second.issue(received, receives);
        (void)ranks.first.advance();
        (void)ranks.second.advance();
        ASSERT_TRUE(sent.done() && received.done());
    }
    RunningCall received;
    ranks.second.issue(received, receives);
    (void)ranks.second.advance();
    EXPECT_FALSE(ranks.second.advance());
    EXPECT_FALSE(received.done()) << "the slot still has the flag of the use before";
}

TEST(StoredCalls, CallsRunSideBySideAndSlotsAreGivenBackInOrder) {
    StoringRanks ranks;
    const Program exchanges = exchanging(2), sends = sending(), receives = receiving();
    RunningCall long_here, long_there, sent, received;
    ranks.first.issue(long_here, exchanges);
    ranks.first.issue(sent, sends);
    ranks.second.issue(long_there, exchanges);
    ranks.second.issue(received, receives);
    (void)ranks.first.advance();
    EXPECT_TRUE(sent.done()) << "it waits for no call before it";
    (void)ranks.second.advance();
    EXPECT_EQ(ranks.second.parts->stored.all_running().size(), 1U);
    EXPECT_EQ(ranks.second.parts->stored.running(), &long_there);
    EXPECT_TRUE(received.done()) << "its message has come";
    EXPECT_EQ(taken(ranks.second), 0U) << "the slot of the call before it is in use";
    (void)ranks.first.advance();
    (void)ranks.second.advance();
    EXPECT_TRUE(long_here.done() && long_there.done());
    EXPECT_EQ(taken(ranks.second), 2U);
    EXPECT_EQ(ranks.second.parts->stored.running(), nullptr);
}

TEST(StoredCalls, NoMoreThanTheWindowBegin) {
    StoringRanks ranks;
    const Program receives = receiving();
    std::deque<RunningCall> received(StoredCalls::window + 1);
    for (RunningCall& call : received) {
        ranks.second.issue(call, receives);
    }
    (void)ranks.second.advance();
    EXPECT_EQ(ranks.second.parts->stored.all_running().size(), StoredCalls::window);
    const Program sends = sending();
    RunningCall sent;
    ranks.first.issue(sent, sends);
    (void)ranks.first.advance();
    (void)ranks.second.advance();
    EXPECT_TRUE(received.front().done());
    EXPECT_EQ(ranks.second.parts->stored.all_running().size(), StoredCalls::window);
    EXPECT_EQ(ranks.second.parts->calls.first(), nullptr) << "the last one has begun";
}

TEST(StoredCalls, ADifferentCallOrLengthIsFoundOut) {
    for (const bool other_call : {true, false}) {
        StoringRanks ranks;
        const Program sends = sending(), receives = receiving(other_call ? bytes : 2 * bytes);
        RunningCall sent, received;
        ranks.first.issue(sent, sends, 42);
        ranks.second.issue(received, receives, other_call ? 43 : 42);
        (void)ranks.first.advance();
        (void)ranks.second.advance();
        EXPECT_FALSE(received.done());
        ASSERT_TRUE(ranks.second.parts->failure.happened());
        EXPECT_EQ(ranks.second.parts->failure.status(), Status::mismatch);
        EXPECT_EQ(ranks.second.parts->failure.cause().blame.culprit, 0);
        EXPECT_EQ(result(ranks.second), 0) << "nothing of the message counts";
    }
}

TEST(StoredCalls, NothingIsPutBeforeThePeersSlotsAreKnown) {
    StoringRanks ranks;
    StoringEnd& end = ranks.first.channels.out[0].end;
    std::byte* const slots = std::exchange(end.slots, nullptr);
    const Program sends = sending();
    RunningCall sent;
    ranks.first.issue(sent, sends);
    (void)ranks.first.advance();
    EXPECT_FALSE(sent.done());
    EXPECT_FALSE(ranks.first.parts->stored.wait_for_flags()) << "no flag will show that";
    ASSERT_EQ(ranks.first.parts->stored.missing(nullptr).size(), 1U);
    EXPECT_EQ(ranks.first.parts->stored.missing(nullptr)[0].kind, Missing::Kind::connection);
    end.slots = slots;
    (void)ranks.first.advance();
    EXPECT_TRUE(sent.done());
}

TEST(StoredCalls, ACallInNoQueueBeginsOnlyWhereNothingRuns) {
    StoringRanks ranks;
    const Program sends = sending(), receives = receiving();
    RunningCall first, second;
    ranks.second.issue(first, receives);
    (void)ranks.second.advance();
    Call call;
    const CallSegment segment{&receives, 0};
    call.segments = {&segment, 1};
    call.signature = 42;
    second.begin(call, {ranks.second.input.data(), ranks.second.output.data()}, 2);
    TimelineNotes notes(nullptr, 0);
    EXPECT_FALSE(ranks.second.parts->stored.begin_here(second, notes));
    RunningCall sent;
    ranks.first.issue(sent, sends);
    (void)ranks.first.advance();
    (void)ranks.second.advance();
    ASSERT_TRUE(first.done());
    ranks.second.parts->in_flight.issue_here();
    EXPECT_TRUE(ranks.second.parts->stored.begin_here(second, notes));
    EXPECT_FALSE(second.done());
    RunningCall sent_too;
    ranks.first.issue(sent_too, sends);
    (void)ranks.first.advance();
    (void)ranks.second.advance();
    EXPECT_TRUE(second.done());
}

}  // namespace
}  // namespace trefoil::test
