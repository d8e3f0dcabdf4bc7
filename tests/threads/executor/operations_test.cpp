// SPDX-License-Identifier: BSD-3-Clause
// Operations alone: what each kind does with the buffers, and what it notes.
#include "threads/executor/operations.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace trefoil {
namespace {

using Words = std::array<std::int32_t, 8>;

class OperationsTest : public testing::Test {
  protected:
    OperationsTest() {
        buffers_.reserve(1);
        place(Location::output, output_);
        place(Location::input, input_);
        place(Location::scratch, scratch_);
        place(Location::first_landing, landing_);
        std::iota(input_.begin(), input_.end(), 1);
        call_.kernels = reduce_kernels(DataType::int32, Operation::sum);
        call_.element_bytes = sizeof(std::int32_t);
    }

    void place(std::uint32_t space, Words& words) {
        buffers_.place(space, reinterpret_cast<std::byte*>(words.data()));
    }
    void perform(TraceRing* trace = nullptr) {
        operations_.perform(call_, program_, buffers_,
                            {0, static_cast<std::uint32_t>(program_.ops.size())}, trace);
    }

    Channels channels_;
    WakeUp wake_up_{channels_.groups};
    Failure failure_{wake_up_};
    Operations operations_{channels_, failure_};
    SegmentBuffers buffers_;
    Program program_;
    Call call_;
    Words output_{}, input_{}, scratch_{}, landing_{};
};

TEST_F(OperationsTest, ACopyCountsBytesAndStaysInsideThem) {
    program_.ops = {{ProgramOp::Kind::copy, {Location::output, 4}, {Location::input, 8}, {}, 8}};
    perform();
    EXPECT_EQ(output_, (Words{0, 3, 4, 0, 0, 0, 0, 0}));
}

TEST_F(OperationsTest, AReductionCountsElements) {
    landing_.fill(10);
    program_.ops = {
        {ProgramOp::Kind::reduce, {Location::first_landing, 0}, {Location::input, 16}, {}, 2}};
    perform();
    EXPECT_EQ(landing_, (Words{15, 16, 10, 10, 10, 10, 10, 10}));
}

TEST_F(OperationsTest, AJointReductionAddsTwoSources) {
    landing_.fill(100);
    scratch_.fill(1000);
    program_.ops = {{ProgramOp::Kind::joint,
                     {Location::input, 0},
                     {Location::first_landing, 0},
                     {Location::scratch, 0},
                     8}};
    perform();
    EXPECT_EQ(input_, (Words{1101, 1102, 1103, 1104, 1105, 1106, 1107, 1108}));
}

TEST_F(OperationsTest, ArePerformedInTheirOrder) {
    program_.ops = {{ProgramOp::Kind::copy, {Location::scratch, 0}, {Location::input, 0}, {}, 32},
                    {ProgramOp::Kind::reduce, {Location::scratch, 0}, {Location::input, 0}, {}, 8},
                    {ProgramOp::Kind::copy, {Location::output, 0}, {Location::scratch, 0}, {}, 32}};
    perform();
    EXPECT_EQ(output_, (Words{2, 4, 6, 8, 10, 12, 14, 16}));
}

TEST_F(OperationsTest, OnlyTheRangeIsPerformed) {
    program_.ops = {{ProgramOp::Kind::copy, {Location::output, 0}, {Location::input, 0}, {}, 4},
                    {ProgramOp::Kind::copy, {Location::output, 4}, {Location::input, 4}, {}, 4},
                    {ProgramOp::Kind::copy, {Location::output, 8}, {Location::input, 8}, {}, 4}};
    operations_.perform(call_, program_, buffers_, {1, 1}, nullptr);
    EXPECT_EQ(output_, (Words{0, 2, 0, 0, 0, 0, 0, 0}));
}

TEST_F(OperationsTest, ATimelineGetsANoteOfEachThatDidSomething) {
    place(Location::output, input_);  // in place
    program_.ops = {{ProgramOp::Kind::copy, {Location::output, 0}, {Location::input, 0}, {}, 32},
                    {ProgramOp::Kind::copy, {Location::scratch, 0}, {Location::input, 0}, {}, 12},
                    {ProgramOp::Kind::reduce, {Location::scratch, 0}, {Location::input, 0}, {}, 3}};
    TraceRing ring(4);
    perform(&ring);
    ASSERT_EQ(ring.kept(), 2U);
    EXPECT_EQ(ring[0].kind, TraceEvent::Kind::copy);
    EXPECT_EQ(ring[0].bytes, 12U);
    EXPECT_EQ(ring[1].kind, TraceEvent::Kind::reduce);
    EXPECT_EQ(ring[1].bytes, 12U);
    EXPECT_LE(ring[0].begin, ring[0].end);
}

}  // namespace
}  // namespace trefoil
