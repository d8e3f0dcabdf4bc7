// SPDX-License-Identifier: BSD-3-Clause
// The verifier on schedules of two and three ranks written by hand: moves, scratch, overlapping
// writes, order of messages, association of sums.
#include <gtest/gtest.h>

#include <functional>

#include "algorithms/analysis/verify.hpp"

namespace trefoil {
namespace {

const Extent vector_block{0, 1};
const Extent scratch_block{1, 1};

using Body = std::function<void(ScheduleWriter&, Rank rank)>;

std::vector<Schedule> write(Rank ranks, Block vector_blocks, Block scratch_blocks,
                            const Body& body) {
    std::vector<Schedule> schedules;
    for (Rank r = 0; r < ranks; ++r) {
        ScheduleWriter writer(r);
        writer.part(vector_blocks, scratch_blocks);
        body(writer, r);
        schedules.push_back(writer.take());
    }
    return schedules;
}

/// Both ranks exchange through '+' links; `apply` places what arrives.
std::vector<Schedule> exchange(Block scratch_blocks,
                               const std::function<void(ScheduleWriter&)>& before,
                               const std::function<void(ScheduleWriter&)>& apply) {
    return write(2, 1, scratch_blocks, [&](ScheduleWriter& w, Rank r) {
        w.step();
        before(w);
        w.send(1 - r, Port::plus(0), {&vector_block, 1});
        w.receive(1 - r, Port::minus(0));
        apply(w);
    });
}

void nothing(ScheduleWriter&) {}

void reduce_vector(ScheduleWriter& w) {
    w.apply(Action::reduce, {&vector_block, 1});
}

Verification prove(const std::vector<Schedule>& schedules) {
    return verify(Torus({static_cast<Rank>(schedules.size())}), Collective::allreduce, schedules);
}

void expect_complaint(const std::vector<Schedule>& schedules, const std::string& text) {
    const Verification proof = prove(schedules);
    ASSERT_FALSE(proof.ok()) << "expected: " << text;
    EXPECT_NE(proof.errors[0].find(text), std::string::npos) << proof.errors[0];
}

TEST(VerifyHandmade, ProvesAnExchange) {
    const Verification proof = prove(exchange(0, nothing, reduce_vector));
    EXPECT_TRUE(proof.ok());
    EXPECT_TRUE(proof.identical_results);  // a op b and b op a are the same bits
}

TEST(VerifyHandmade, ProvesAnExchangeByWayOfScratch) {
    auto schedules = write(2, 1, 1, [](ScheduleWriter& w, Rank r) {
        w.step();
        w.send(1 - r, Port::plus(0), {&vector_block, 1});
        w.receive(1 - r, Port::minus(0), Action::replace, {&scratch_block, 1});
        w.step();
        w.move(Action::reduce, scratch_block, 0);
    });
    EXPECT_TRUE(prove(schedules).ok());
}

TEST(VerifyHandmade, ProvesOneMessageForTwoPlaces) {
    EXPECT_TRUE(prove(exchange(1, nothing, [](ScheduleWriter& w) {
                    reduce_vector(w);
                    w.apply(Action::replace, {&scratch_block, 1});
                })).ok());
}

TEST(VerifyHandmade, CatchesUndefinedScratch) {
    expect_complaint(write(2, 1, 1,
                           [](ScheduleWriter& w, Rank r) {
                               w.step();
                               w.send(1 - r, Port::plus(0), {&scratch_block, 1});
                               w.receive(1 - r, Port::minus(0), Action::reduce, {&vector_block, 1});
                           }),
                     "a send reads block 1, which is undefined");
    expect_complaint(exchange(1, nothing,
                              [](ScheduleWriter& w) {
                                  w.apply(Action::reduce, {&scratch_block, 1});
                              }),
                     "reduces into undefined block 1");
    expect_complaint(
        exchange(
            1, [](ScheduleWriter& w) { w.move(Action::replace, scratch_block, 0); }, reduce_vector),
        "a move reads block 1, which is undefined");
    expect_complaint(
        exchange(
            1, [](ScheduleWriter& w) { w.move(Action::reduce, vector_block, 1); }, reduce_vector),
        "a move reduces into block 1, which is undefined");
}

// Scratch is not yet defined for the sends of the step whose receives fill it.
TEST(VerifyHandmade, CatchesASendOfWhatArrivesInTheSameStep) {
    expect_complaint(
        write(3, 1, 1,
              [](ScheduleWriter& w, Rank r) {
                  w.step();
                  w.send((r + 1) % 3, Port::plus(0), {&vector_block, 1});
                  w.receive((r + 2) % 3, Port::minus(0), Action::replace, {&scratch_block, 1});
                  w.send((r + 2) % 3, Port::minus(0), {&scratch_block, 1});
                  w.receive((r + 1) % 3, Port::plus(0), Action::reduce, {&vector_block, 1});
              }),
        "a send reads block 1, which is undefined");
}

TEST(VerifyHandmade, CatchesMovesThatCountTwiceOrLeaveTheBuffer) {
    const auto copy_and_add = [](ScheduleWriter& w) {
        w.move(Action::replace, vector_block, 1);
        w.move(Action::reduce, scratch_block, 0);
    };
    expect_complaint(exchange(1, copy_and_add, reduce_vector),
                     "a move counts a contribution twice in block 0");
    expect_complaint(exchange(
                         1,
                         [](ScheduleWriter& w) {
                             w.move(Action::replace, {2, 1}, 0);
                         },
                         reduce_vector),
                     "a move reads blocks [2, 3), out of bounds");
    expect_complaint(
        exchange(
            1, [](ScheduleWriter& w) { w.move(Action::replace, vector_block, 2); }, reduce_vector),
        "a move writes blocks [2, 3), out of bounds");
    expect_complaint(exchange(
                         2,
                         [](ScheduleWriter& w) {
                             w.move(Action::replace, {0, 2}, 1);
                         },
                         reduce_vector),
                     "overlaps itself");
}

TEST(VerifyHandmade, CatchesAMoveBetweenVectorBlocks) {
    expect_complaint(write(2, 2, 0,
                           [](ScheduleWriter& w, Rank) {
                               w.step();
                               w.move(Action::replace, {0, 1}, 1);
                           }),
                     "which may differ in size");
}

TEST(VerifyHandmade, CatchesAMessageThatWritesABlockTwice) {
    expect_complaint(exchange(0, nothing,
                              [](ScheduleWriter& w) {
                                  reduce_vector(w);
                                  w.apply(Action::replace, {&vector_block, 1});
                              }),
                     "writes twice block 0");
}

/// Three ranks; everybody sends to both others, and places what arrives by the given actions.
std::vector<Schedule> star(Action first, Action second) {
    return write(3, 1, 1, [=](ScheduleWriter& w, Rank r) {
        w.step();
        w.send((r + 1) % 3, Port::plus(0), {&vector_block, 1});
        w.send((r + 2) % 3, Port::minus(0), {&vector_block, 1});
        w.receive((r + 2) % 3, Port::minus(0), first, {&scratch_block, 1});
        w.receive((r + 1) % 3, Port::plus(0), second, {&scratch_block, 1});
        w.step();
        w.move(Action::reduce, scratch_block, 0);
    });
}

TEST(VerifyHandmade, AllowsReductionsIntoWhatTheSameStepPlaced) {
    EXPECT_TRUE(prove(star(Action::replace, Action::reduce)).ok());
}

TEST(VerifyHandmade, CatchesReplacesThatOverwriteTheSameStep) {
    expect_complaint(star(Action::replace, Action::replace), "replaces what another message");
    const auto late_replace = write(3, 1, 0, [](ScheduleWriter& w, Rank r) {
        w.step();
        w.send((r + 1) % 3, Port::plus(0), {&vector_block, 1});
        w.send((r + 2) % 3, Port::minus(0), {&vector_block, 1});
        w.receive((r + 2) % 3, Port::minus(0), Action::reduce, {&vector_block, 1});
        w.receive((r + 1) % 3, Port::plus(0), Action::replace, {&vector_block, 1});
    });
    expect_complaint(late_replace, "replaces what another message");
}

/// Three ranks reduce what comes from both sides, `from_left` first or from_right first.
std::vector<Schedule> three_way(const std::function<bool(Rank)>& left_first) {
    return write(3, 1, 0, [&](ScheduleWriter& w, Rank r) {
        w.step();
        w.send((r + 1) % 3, Port::plus(0), {&vector_block, 1});
        w.send((r + 2) % 3, Port::minus(0), {&vector_block, 1});
        for (const bool left : {left_first(r), !left_first(r)}) {
            w.receive(left ? (r + 2) % 3 : (r + 1) % 3, left ? Port::minus(0) : Port::plus(0),
                      Action::reduce, {&vector_block, 1});
        }
    });
}

// (own op left) op right is (1+0)+2 on rank 1, but (2+1)+0 on rank 2.
TEST(VerifyHandmade, TellsDifferentAssociationsApart) {
    const Verification proof = prove(three_way([](Rank) { return true; }));
    EXPECT_TRUE(proof.ok());
    EXPECT_FALSE(proof.identical_results);
}

// Ranks 0 and 1 meet first everywhere, and rank 2 takes (2+0)+1: different still. Only operands of
// one reduction commute.
TEST(VerifyHandmade, CommutesOnlyWithinOneReduction) {
    const Verification proof = prove(three_way([](Rank r) { return r == 1; }));
    EXPECT_TRUE(proof.ok());
    EXPECT_FALSE(proof.identical_results);
}

/// Two blocks each; the receives of the two messages through one port in the given order.
std::vector<Schedule> two_messages(Block first, Block second) {
    return write(2, 2, 0, [=](ScheduleWriter& w, Rank r) {
        const Extent blocks[] = {{0, 1}, {1, 1}};
        w.step();
        w.send(1 - r, Port::plus(0), {&blocks[0], 1});
        w.send(1 - r, Port::plus(0), {&blocks[1], 1});
        w.receive(1 - r, Port::minus(0), Action::reduce, {&blocks[first], 1});
        w.receive(1 - r, Port::minus(0), Action::reduce, {&blocks[second], 1});
    });
}

TEST(VerifyHandmade, MatchesMessagesOfOnePortInOrder) {
    EXPECT_TRUE(prove(two_messages(0, 1)).ok());
    expect_complaint(two_messages(1, 0), "may differ in size");
}

TEST(VerifyHandmade, CatchesSwappedExtents) {
    const auto schedules = [](std::vector<Extent> target) {
        return write(2, 3, 0, [target](ScheduleWriter& w, Rank r) {
            const Extent middle{1, 1};
            const Extent ends[] = {{0, 1}, {2, 1}};
            w.step();
            w.send(1 - r, Port::plus(0), ends);
            w.receive(1 - r, Port::minus(0), Action::reduce, target);
            w.send(1 - r, Port::minus(0), {&middle, 1});
            w.receive(1 - r, Port::plus(0), Action::reduce, {&middle, 1});
        });
    };
    EXPECT_TRUE(prove(schedules({{0, 1}, {2, 1}})).ok());
    expect_complaint(schedules({{2, 1}, {0, 1}}), "may differ in size");
}

}  // namespace
}  // namespace trefoil
