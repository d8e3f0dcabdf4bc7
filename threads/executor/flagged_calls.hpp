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
// A call goes step by step of the schedule: what all parts send in step s, then what they wait for
// in step s. Calls begin in their order, up to `window` of them run side by side, and end in any
// order; the uses that a rank is done with are told in order. No rank waits for ever: a message of
// step s is sent by whoever has begun the call and completed all steps before s, so, by induction
// over calls and steps, each is sent. The room that it waits for is given by a rank that completes
// an earlier call.
#pragma once

#include <array>
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

/// One call's piece that runs, step by step. By the thread that advances it.
class FlaggedPiece {
  public:
    /// Places buffers and uses, and does what comes before the first step.
    void begin(RunningCall& call, const CallSegment& piece, std::uint64_t number,
               Channels& channels, const Operations& operations, TimelineNotes& notes) noexcept;
    void make_room(const ProgramSizes& sizes);
    bool runs() const { return program_ != nullptr; }
    RunningCall& call() const { return *call_; }

    /// Does all that can be done now; `moved` if anything. True: it is complete.
    bool go_on(Channels& channels, const Operations& operations, Failure& failure,
               TimelineNotes& notes, bool& moved) noexcept;
    /// What it waits for has come. A glance.
    bool may_go_on(const Channels& channels) const noexcept {
        return waits_for_ == Awaited::message
                   ? has_come()
                   : waits_for_ == Awaited::room && has_room(channels.out[waits_at_]);
    }
    /// It was complete, and those that began before it, too: its slots are given back.
    void give_back(Channels& channels) noexcept;
    /// What it waits for.
    void list_missing(const Channels& channels, std::vector<MissingPiece>& found) const;

  private:
    enum class Awaited : std::uint8_t { nothing, message, room, connection };

    bool send(const ProgramStep& step, Channels& channels, const Operations& operations,
              TimelineNotes& notes) noexcept;
    bool put(const ProgramPut& put, Channels& channels) noexcept;
    bool receive(std::uint32_t number, Channels& channels, const Operations& operations,
                 Failure& failure, TimelineNotes& notes) noexcept;
    void perform(ProgramRange range, const Operations& operations, TimelineNotes& notes) noexcept {
        if (range.count > 0) {
            operations.perform(call_->call(), *program_, buffers_, range, notes.ring());
        }
    }
    std::uint32_t end_of_step() const noexcept;
    std::uint32_t sign(std::uint64_t bytes) const noexcept;
    std::uint64_t* flag_of(const ProgramArrival& message, const Channels& channels) const noexcept;
    bool has_come() const noexcept;
    bool has_room(const OutChannel& channel) const noexcept;
    void fail_by(const InChannel& channel, Failure& failure) const noexcept;

    RunningCall* call_ = nullptr;
    const Program* program_ = nullptr;  ///< null: there is none
    std::uint64_t number_ = 0;          ///< of all pieces so far
    std::uint32_t first_ = 0;           ///< in Program::order: the present step, of all parts
    std::uint32_t end_ = 0;             ///< behind it
    std::uint32_t at_ = 0;              ///< the part's step that is at work
    std::uint32_t done_ = 0;            ///< puts of it, or messages
    bool sends_ = false;                ///< else it receives
    Awaited waits_for_ = Awaited::nothing;
    std::uint32_t waits_at_ = 0;             ///< the channel
    std::uint32_t waited_use_ = 0;           ///< what the flag will say
    const std::uint64_t* waited_ = nullptr;  ///< the flag
    std::uint32_t room_slots_ = 0;           ///< of the channel where it waits for room
    std::vector<std::uint32_t> in_use_;      ///< by channel
    std::vector<std::uint32_t> out_use_;
    std::vector<std::byte> scratch_;
    SegmentBuffers buffers_;
    std::int64_t piece_begun_ = 0, step_begun_ = 0;
};

/// Runs the calls of a queue. By worker 0, or while the engine is held.
class FlaggedCalls {
  public:
    static constexpr std::size_t window = 16;

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
    /// What a call waits for has come. A glance.
    bool may_go_on() const noexcept {
        for (std::uint64_t n = oldest_; n != next_; ++n) {
            const FlaggedPiece& piece = place(n);
            if (piece.runs() && !is_done(n) && piece.may_go_on(channels_)) {
                return true;
            }
        }
        return false;
    }
    /// The oldest call that has begun and is not done; null: there is none.
    const RunningCall* running() const;
    /// Those calls, without double ones.
    std::vector<const RunningCall*> all_running() const;
    /// What they wait for; `call`: that one alone, unless it is null.
    std::vector<MissingPiece> missing(const RunningCall* call) const;

  private:
    bool begin_next(TimelineNotes& notes) noexcept;
    bool make_room() noexcept;
    void complete(std::uint64_t number) noexcept;
    bool is_done(std::uint64_t number) const { return done_[number % window]; }
    const FlaggedPiece& place(std::uint64_t number) const { return pieces_[number % window]; }
    FlaggedPiece& place(std::uint64_t number) { return pieces_[number % window]; }

    Channels& channels_;
    CallQueue& calls_;
    RoomNeeded& room_needed_;
    const Operations& operations_;
    InFlight& in_flight_;
    Failure& failure_;

    std::uint64_t begun_ = 0;  ///< pieces so far
    // Numbers of places that are in use, from oldest_ on: in the order in which pieces begin.
    std::uint64_t oldest_ = 0, next_ = 0;
    std::array<FlaggedPiece, window> pieces_;
    std::array<bool, window> done_{};           ///< it is complete
    std::array<std::uint64_t, window> room_{};  ///< RoomNeeded::version(), by place
};

}  // namespace trefoil
