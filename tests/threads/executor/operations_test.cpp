// SPDX-License-Identifier: BSD-3-Clause
// Operations alone: what each kind does with the buffers, and what it notes.
#include "threads/executor/operations.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "tests/backend/ports/silent_group.hpp"

namespace trefoil {
namespace {

using Words = std::array<std::int32_t, 8>;

/// In place of its first operand.
ProgramOp joint_op(Location target, Location second, Location third, std::size_t elements) {
    return {.kind = ProgramOp::Kind::joint,
            .target = target,
            .source = target,
            .second = second,
            .third = third,
            .elements = elements};
}

/// Reads the memory of peers, or is not let.
class Reader final : public test::SilentGroup, public Pulling {
  public:
    Reader() : SilentGroup({Port{0}}) { powers_.pulling = this; }
    Reach reach(Peer) const override { return Reach::copies; }
    bool copy_from(Peer, void* target, std::uint64_t address, std::size_t bytes) const override {
        errno = EPERM;
        if (may_read) {
            std::memcpy(target, reinterpret_cast<const void*>(address), bytes);
        }
        return may_read;
    }
    ReadGuard* own_guard(int) override { return nullptr; }
    const ReadGuard* guard_of(Peer, int) const override { return nullptr; }

    bool may_read = true;
};

class OperationsTest : public testing::Test {
  protected:
    OperationsTest() {
        buffers_.reserve(1, 0, 1);
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
    Failure failure_{wake_up_, 0};
    PeerReads reads_{channels_, failure_};
    Operations operations_{channels_, reads_, failure_};
    SegmentBuffers buffers_;
    Program program_;
    Call call_;
    Words output_{}, input_{}, scratch_{}, landing_{};
};

TEST_F(OperationsTest, ACopyCountsBytesAndStaysInsideThem) {
    program_.ops = {ProgramOp::copy({Location::output, 4}, {Location::input, 8}, 8)};
    perform();
    EXPECT_EQ(output_, (Words{0, 3, 4, 0, 0, 0, 0, 0}));
}

TEST_F(OperationsTest, AReductionCountsElements) {
    landing_.fill(10);
    program_.ops = {ProgramOp::reduce({Location::first_landing, 0}, {Location::first_landing, 0},
                                      {Location::input, 16}, 2)};
    perform();
    EXPECT_EQ(landing_, (Words{15, 16, 10, 10, 10, 10, 10, 10}));
}

TEST_F(OperationsTest, AReductionTakesItsOperandsFromWhereTheyLie) {
    landing_.fill(10);
    program_.ops = {ProgramOp::reduce({Location::output, 4}, {Location::input, 16},
                                      {Location::first_landing, 0}, 2)};
    perform();
    EXPECT_EQ(output_, (Words{0, 15, 16, 0, 0, 0, 0, 0}));
    EXPECT_EQ(input_[4], 5);
}

TEST_F(OperationsTest, AJointReductionAddsTwoSources) {
    landing_.fill(100);
    scratch_.fill(1000);
    program_.ops = {
        joint_op({Location::input, 0}, {Location::first_landing, 0}, {Location::scratch, 0}, 8)};
    perform();
    EXPECT_EQ(input_, (Words{1101, 1102, 1103, 1104, 1105, 1106, 1107, 1108}));
}

TEST_F(OperationsTest, ArePerformedInTheirOrder) {
    program_.ops = {
        ProgramOp::copy({Location::scratch, 0}, {Location::input, 0}, 32),
        ProgramOp::reduce({Location::scratch, 0}, {Location::scratch, 0}, {Location::input, 0}, 8),
        ProgramOp::copy({Location::output, 0}, {Location::scratch, 0}, 32)};
    perform();
    EXPECT_EQ(output_, (Words{2, 4, 6, 8, 10, 12, 14, 16}));
}

TEST_F(OperationsTest, OnlyTheRangeIsPerformed) {
    program_.ops = {ProgramOp::copy({Location::output, 0}, {Location::input, 0}, 4),
                    ProgramOp::copy({Location::output, 4}, {Location::input, 4}, 4),
                    ProgramOp::copy({Location::output, 8}, {Location::input, 8}, 4)};
    operations_.perform(call_, program_, buffers_, {1, 1}, nullptr);
    EXPECT_EQ(output_, (Words{0, 2, 0, 0, 0, 0, 0, 0}));
}

class PullTest : public OperationsTest {
  protected:
    /// Peer 7 has told of its vectors.
    PullTest() {
        auto reader = std::make_unique<Reader>();
        reader_ = reader.get();
        channels_.groups.push_back(std::move(reader));
        (void)channels_.add_out(6, Port{0});
        (void)channels_.add_out(7, Port{0});
        peer_output_.fill(70);
        const VectorAddresses told{reinterpret_cast<std::uintptr_t>(scratch_.data()),
                                   reinterpret_cast<std::uintptr_t>(peer_output_.data())};
        std::memcpy(landing_.data() + 2, &told, sizeof told);
        program_.first_peer = Location::first_landing + 1;
        program_.peers = {1};
        buffers_.reserve(1, program_.spaces(), 1);
        open_ = {.kind = ProgramOp::Kind::open,
                 .target = {program_.first_peer, 0},
                 .source = {Location::first_landing, 8},
                 .elements = 0};
        pull_ = {.kind = ProgramOp::Kind::pull,
                 .target = {Location::output, 0},
                 .source = {program_.first_peer + 1, 4},
                 .elements = 8};
    }

    Reader* reader_ = nullptr;
    Words peer_output_{};
    ProgramOp open_, pull_;
};

TEST_F(PullTest, WhatIsOpenedIsAPlaceLikeAnyOther) {
    scratch_.fill(1000);
    program_.ops = {open_, joint_op({Location::input, 0}, {program_.first_peer, 0},
                                    {program_.first_peer + 1, 28}, 1)};
    perform();
    EXPECT_EQ(input_[0], 1071);
}

TEST_F(PullTest, TheTransportReadsWhatIsNotMapped) {
    program_.ops = {open_, pull_};
    TraceRing ring(4);
    perform(&ring);
    EXPECT_EQ(output_, (Words{70, 70, 0, 0, 0, 0, 0, 0}));
    ASSERT_EQ(ring.kept(), 1U);
    EXPECT_EQ(ring[0].kind, TraceEvent::Kind::pull);
    EXPECT_EQ(ring[0].peer, 7);
    EXPECT_EQ(ring[0].bytes, 8U);
}

TEST_F(PullTest, AReadThatFailsFailsTheCallAndLeavesTheRestOut) {
    reader_->may_read = false;
    program_.ops = {open_, pull_, ProgramOp::copy({Location::output, 0}, {Location::input, 0}, 32)};
    perform();
    EXPECT_EQ(failure_.status(), Status::system_error);
    EXPECT_EQ(failure_.text(),
              "reading the vector of rank 7 in its process failed: Operation not permitted; set "
              "TREFOIL_SINGLE_COPY=0 if its memory cannot be read by others");
    EXPECT_EQ(output_, Words{});
}

TEST_F(OperationsTest, PeersAreToldWhereTheVectorsAre) {
    buffers_.tell(reinterpret_cast<std::byte*>(input_.data()),
                  reinterpret_cast<std::byte*>(output_.data()), {0});
    program_.ops = {
        ProgramOp::copy({Location::scratch, 0}, {Location::addresses, 0}, sizeof(VectorAddresses))};
    perform();
    VectorAddresses told;
    std::memcpy(&told, static_cast<const void*>(scratch_.data()), sizeof told);
    EXPECT_EQ(told.input, reinterpret_cast<std::uintptr_t>(input_.data()));
    EXPECT_EQ(told.output, reinterpret_cast<std::uintptr_t>(output_.data()));
}

TEST_F(OperationsTest, ATimelineGetsANoteOfEachThatDidSomething) {
    place(Location::output, input_);  // in place
    program_.ops = {
        ProgramOp::copy({Location::output, 0}, {Location::input, 0}, 32),
        ProgramOp::copy({Location::scratch, 0}, {Location::input, 0}, 12),
        ProgramOp::reduce({Location::scratch, 0}, {Location::scratch, 0}, {Location::input, 0}, 3)};
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
