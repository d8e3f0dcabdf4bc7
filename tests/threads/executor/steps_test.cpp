// SPDX-License-Identifier: BSD-3-Clause
// Running segments and their steps: tokens, what opens when, and the queue of segments.
#include "threads/executor/steps.hpp"

#include "parts_fixture.hpp"

namespace trefoil::test {
namespace {

class StepsTest : public PartsFixture {
  protected:
    void spend(RunningSegment& segment, std::uint32_t step) {
        parts_->steps.count_event(segment, step, notes_);
    }
    /// An operation that shows that it was performed: output[i] becomes input[i].
    static ProgramOp mark(std::size_t i) {
        return ProgramOp::copy({Location::output, 4 * i}, {Location::input, 4 * i}, 4);
    }
    bool marked(std::size_t i) const { return output_[i] == input_[i]; }
};

TEST_F(StepsTest, AStepIsCompleteWhenItsLastTokenIsSpent) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    w.before(mark(0));
    w.put(0, {Location::input, 0}, 4);
    (void)w.arrival(1, 4);
    w.after(mark(1));
    w.step();
    w.before(mark(2));
    (void)w.arrival(1, 4);
    const Program program = w.take(false);
    begin_call(program);
    RunningSegment& segment = begin_segment();
    EXPECT_EQ(segment.open_step(0), 0U);
    EXPECT_TRUE(marked(0));
    spend(segment, 0);
    EXPECT_FALSE(marked(1)) << "one token is left";
    spend(segment, 0);
    EXPECT_TRUE(marked(1));
    EXPECT_TRUE(marked(2));
    EXPECT_EQ(segment.open_step(0), 1U);
    EXPECT_TRUE(segment.running());
}

TEST_F(StepsTest, TokensMayBeSpentBeforeTheirStepIsOpen) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    (void)w.arrival(0, 4);
    w.step();
    (void)w.arrival(1, 4);
    w.after(mark(3));
    const Program program = w.take(false);
    begin_call(program);
    RunningSegment& segment = begin_segment();
    spend(segment, 1);
    EXPECT_FALSE(marked(3));
    spend(segment, 0);
    EXPECT_TRUE(marked(3)) << "both steps in one go";
}

TEST_F(StepsTest, TheEndComesAfterAllParts) {
    ProgramWriter w = writer();
    for (const std::uint32_t channel : {0U, 1U}) {
        w.part();
        w.step();
        (void)w.arrival(channel, 4);
    }
    w.end(mark(0));
    const Program program = w.take(true);
    begin_call(program);
    RunningSegment& segment = begin_segment();
    spend(segment, 1);
    EXPECT_FALSE(marked(0));
    spend(segment, 0);
    EXPECT_TRUE(marked(0));
    EXPECT_TRUE(segment.running());
    parts_->steps.release(segment, notes_);  // the worker
    EXPECT_FALSE(segment.running());
    EXPECT_TRUE(running_call_.done());
}

TEST_F(StepsTest, ASegmentRunsUntilEveryWorkerHasPostedItsPuts) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    (void)w.arrival(0, 4);
    const Program program = w.take(false);
    begin_call(program);
    RunningSegment& segment = begin_segment();
    spend(segment, 0);
    EXPECT_TRUE(segment.running());
    EXPECT_FALSE(running_call_.done());
    parts_->steps.release(segment, notes_);
    EXPECT_FALSE(segment.running());
    EXPECT_TRUE(running_call_.done());
}

TEST_F(StepsTest, AProgramWithoutStepsDoesItsEndAtOnce) {
    ProgramWriter w = writer();
    w.end(mark(5));
    const Program program = w.take(false);
    begin_call(program);
    RunningSegment& segment = begin_segment();
    EXPECT_TRUE(marked(5));
    parts_->steps.release(segment, notes_);
    EXPECT_TRUE(running_call_.done());
}

TEST_F(StepsTest, AfterAFailureNothingIsOpenedNorEnded) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    (void)w.arrival(0, 4);
    w.step();
    (void)w.arrival(0, 4);
    const Program program = w.take(true);
    begin_call(program);
    RunningSegment& segment = begin_segment();
    parts_->failure.set(Status::peer_lost, "lost");
    spend(segment, 0);
    EXPECT_EQ(segment.open_step(0), 0U);
    EXPECT_TRUE(segment.running());
}

TEST_F(StepsTest, SegmentsRunTwoAtATimeInSlotsOfTheirOwn) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    const Location landed = w.arrival(1, 4);
    const Program program = w.take(false);
    begin_call(program, 6);
    std::byte* const first_slot = channels_.in[1].landing;
    for (std::uint32_t number = 0; number < 6; ++number) {
        ASSERT_TRUE(parts_->queue.has_room());
        RunningSegment& segment = begin_segment();
        EXPECT_EQ(parts_->queue.published(), number + 1);
        EXPECT_EQ(&parts_->queue.at(number), &segment);
        EXPECT_EQ(segment.in_use(1), number);
        EXPECT_EQ(segment.buffers().at(landed),
                  first_slot + number % LandingRings::few_slots * slot_bytes);
        if (number == 0) {
            continue;
        }
        EXPECT_FALSE(parts_->queue.has_room());
        RunningSegment& before = parts_->queue.at(number - 1);
        spend(before, 0);
        parts_->steps.release(before, notes_);
    }
    EXPECT_FALSE(running_call_.has_more());
}

TEST_F(StepsTest, ASegmentIsAnOffsetIntoTheVectors) {
    ProgramWriter w = writer();
    w.end(ProgramOp::copy({Location::output, 0}, {Location::input, 0}, 4));
    const Program program = w.take(false);
    begin_call(program);
    segments_[0].offset = 12;
    begin_segment();
    EXPECT_EQ(output_[3], input_[3]);
    EXPECT_EQ(output_[0], 0);
}

TEST_F(StepsTest, AnArrivalCountsOnce) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    (void)w.arrival(0, 4);
    (void)w.arrival(0, 4);
    const Program program = w.take(false);
    begin_call(program);
    RunningSegment& segment = begin_segment();
    using Taken = RunningSegment::Taken;
    EXPECT_EQ(segment.take_arrival(1, 0), Taken::whole);
    EXPECT_FALSE(segment.has_arrived(0));
    EXPECT_EQ(segment.take_arrival(1, 0), Taken::twice);
    EXPECT_EQ(segment.take_arrival(1, 2), Taken::twice) << "also where it did not land";
    EXPECT_EQ(segment.take_arrival(0, 0), Taken::whole);
}

TEST_F(StepsTest, AnArrivalInRunsCountsWithTheLastOne) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    (void)w.arrival(0, 4);
    const Program program = w.take(false);
    begin_call(program);
    RunningSegment& segment = begin_segment();
    using Taken = RunningSegment::Taken;
    constexpr std::size_t runs = DirectRuns::most;
    for (std::size_t run = 1; run < runs; ++run) {
        EXPECT_EQ(segment.take_arrival(0, runs), Taken::in_part);
        EXPECT_FALSE(segment.has_arrived(0));
        EXPECT_FALSE(segment.landed_directly(0));
    }
    EXPECT_EQ(segment.puts_missing(0, runs), 1U);
    EXPECT_EQ(segment.take_arrival(0, runs), Taken::whole);
    EXPECT_TRUE(segment.has_arrived(0));
    EXPECT_TRUE(segment.landed_directly(0));
    EXPECT_EQ(segment.take_arrival(0, runs), Taken::twice);
}

TEST_F(StepsTest, AStepWaitsForTokensThatWereAdded) {
    ProgramWriter w = writer();
    w.part();
    w.step();
    (void)w.arrival(0, 4);
    w.step();
    (void)w.arrival(0, 4);
    const Program program = w.take(false);
    begin_call(program);
    RunningSegment& segment = begin_segment();
    segment.add_events(0, 2);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(segment.open_step(0), 0U);
        parts_->steps.count_event(segment, 0, notes_);
    }
    EXPECT_EQ(segment.open_step(0), 1U);
}

}  // namespace
}  // namespace trefoil::test
