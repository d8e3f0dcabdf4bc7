// SPDX-License-Identifier: BSD-3-Clause
// Small calls among ranks that map each other's memory: a message is a store into its slot.
//
// The sender writes the message where it lands, and then its *flag*, which lies ahead of it. The
// receiver waits for one flag after the other. There is no queue, no ticket and no notification;
// the sender waits for no cache line, and rings only where it sees the receiver asleep
// (PortGroup::ring()).
//
// A flag tells the number of the channel's use, so that what an earlier use left is not taken for
// this one, and a hash of the call and of the message's length: ranks that make different calls
// find out. Use u lands in slot u mod S; the receiver counts the uses that it is done with in
// memory beside the slots, where the sender reads it, and use u waits until u - S is done with.
//
// One call runs at a time, step by step of the schedule: what all parts send in step s, then what
// they wait for in step s. No rank waits for ever: a message of step s is sent by whoever has
// completed all steps before s of this call and all calls before, so, by induction, each is sent.
// The room that it waits for is given by a rank that completes an earlier call.
#pragma once

#include <cstdint>
#include <vector>

#include "threads/executor/call_queue.hpp"
#include "threads/executor/call_report.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/failure.hpp"
#include "threads/executor/in_flight.hpp"
#include "threads/executor/operations.hpp"
#include "threads/executor/program_sizes.hpp"
#include "threads/executor/segment_buffers.hpp"
#include "threads/executor/timeline_notes.hpp"

namespace trefoil {

/// Runs the calls of a queue in its order. By worker 0, or while the engine is held.
class FlaggedCalls {
  public:
    /// All outlive this.
    FlaggedCalls(Channels& channels, CallQueue& calls, RoomNeeded& room,
                 const Operations& operations, InFlight& in_flight, Failure& failure)
        : channels_(channels),
          calls_(calls),
          room_needed_(room),
          operations_(operations),
          in_flight_(in_flight),
          failure_(failure) {}

    /// Does all that can be done now. False: nothing could.
    bool advance(TimelineNotes& notes) noexcept;
    /// What the running call waits for has come. A glance.
    bool may_go_on() const noexcept {
        return waits_for_ == Awaited::message
                   ? has_come()
                   : waits_for_ == Awaited::room && has_room(channels_.out[waits_at_]);
    }

    /// The call that has begun and is not done; null: there is none.
    const RunningCall* running() const { return call_; }
    /// What it waits for.
    std::vector<MissingPiece> missing() const;

  private:
    enum class Awaited : std::uint8_t { nothing, message, room, connection };

    bool begin_next() noexcept;
    bool begin_piece(TimelineNotes& notes) noexcept;
    bool go_on(TimelineNotes& notes, bool& moved) noexcept;
    bool send(const ProgramStep& step, TimelineNotes& notes) noexcept;
    bool put(const ProgramPut& put) noexcept;
    bool receive(std::uint32_t number, TimelineNotes& notes) noexcept;
    void end_piece(TimelineNotes& notes) noexcept;
    void perform(ProgramRange range, TimelineNotes& notes) noexcept {
        if (range.count > 0) {
            operations_.perform(call_->call(), *program_, buffers_, range, notes.ring());
        }
    }
    std::uint32_t end_of_step() const noexcept;
    std::uint32_t sign(std::uint64_t bytes) const noexcept;
    std::uint64_t* flag_of(const ProgramArrival& message) const noexcept;
    bool has_come() const noexcept;
    bool has_room(const OutChannel& channel) const noexcept;
    void fail_by(const InChannel& channel) noexcept;

    Channels& channels_;
    CallQueue& calls_;
    RoomNeeded& room_needed_;
    const Operations& operations_;
    InFlight& in_flight_;
    Failure& failure_;

    // The piece that runs.
    RunningCall* call_ = nullptr;
    const Program* program_ = nullptr;  ///< null: none has begun
    std::uint64_t number_ = 0;          ///< of all pieces so far
    std::uint32_t first_ = 0;           ///< in Program::order: the present step, of all parts
    std::uint32_t end_ = 0;             ///< behind it
    std::uint32_t at_ = 0;              ///< the part's step that is at work
    std::uint32_t done_ = 0;            ///< puts of it, or messages
    bool sends_ = false;                ///< else it receives
    Awaited waits_for_ = Awaited::nothing;
    std::uint32_t waits_at_ = 0;             ///< the channel
    const std::uint64_t* waited_ = nullptr;  ///< the flag
    std::uint32_t waited_use_ = 0;           ///< what it will say
    std::vector<std::uint32_t> in_use_;      ///< by channel
    std::vector<std::uint32_t> out_use_;
    std::vector<std::byte> scratch_;
    SegmentBuffers buffers_;
    std::uint64_t room_ = 0;  ///< RoomNeeded::version()
    std::int64_t piece_begun_ = 0, step_begun_ = 0;
};

}  // namespace trefoil
