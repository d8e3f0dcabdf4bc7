// SPDX-License-Identifier: BSD-3-Clause
// Small calls among ranks that map each other's memory: a message is a store into its slot.
//
// The sender writes the message where it lands, and then its *flag*, which lies ahead of it. The
// receiver waits for one flag after the other. There is no queue, no ticket and no notification;
// the sender waits for no cache line, and rings only where it sees the receiver asleep
// (Storing::ring()).
//
// A flag tells the number of the channel's use, as a mark of 64 bits, so that what an earlier use
// left is not taken for this one: its data may lie where this one's flags will be. So marks have a
// key that nobody outside the job knows, and whoever chooses data can choose no mark. And it tells
// a hash of the call and of the message's length: ranks that make different calls find out. Use u
// lands in slot u mod S; the receiver counts the uses that it is done with in memory beside the
// slots, where the sender reads it, and use u waits until u - S is done with.
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
#include "threads/executor/stored_segment.hpp"
#include "threads/executor/timeline_notes.hpp"

namespace trefoil {

/// Runs the calls of a queue. By worker 0, or while the engine is held.
class StoredCalls {
  public:
    static constexpr std::size_t window = 16;

    /// All outlive this.
    StoredCalls(Channels& channels, CallQueue& calls, RoomNeeded& room,
                const Operations& operations, InFlight& in_flight, Failure& failure)
        : channels_(channels),
          calls_(calls),
          room_needed_(room),
          operations_(operations),
          in_flight_(in_flight),
          failure_(failure) {}

    /// Does all that can be done now. False: nothing could.
    bool advance(TimelineNotes& notes) noexcept;
    /// The same for a call that is in no queue. False: others come first, or it cannot begin yet,
    /// and nothing has happened.
    bool begin_here(RunningCall& call, TimelineNotes& notes) noexcept;
    /// What a call waits for has come. A glance.
    bool may_go_on() const noexcept {
        for (std::uint64_t n = oldest_; n != next_; ++n) {
            if (!is_done(n) && place(n).may_go_on(channels_)) {
                return true;
            }
        }
        return false;
    }
    /// All that has begun waits for what may_go_on() sees. False as well where nothing has begun.
    bool wait_for_flags() const noexcept {
        for (std::uint64_t n = oldest_; n != next_; ++n) {
            if (!is_done(n) && !place(n).waits_for_flag()) {
                return false;
            }
        }
        return oldest_ != next_;
    }
    /// The oldest call that has begun and is not done; null: there is none.
    const RunningCall* running() const;
    /// Those calls, without double ones.
    std::vector<const RunningCall*> all_running() const;
    /// What they wait for; `call`: that one alone, unless it is null.
    std::vector<Missing> missing(const RunningCall* call) const;

  private:
    bool begin_next(TimelineNotes& notes) noexcept;
    bool may_begin(const RunningCall& call) noexcept;
    void begin(RunningCall& call, const CallSegment& segment, TimelineNotes& notes) noexcept;
    bool go_on(std::uint64_t number, TimelineNotes& notes) noexcept;
    bool make_room() noexcept;
    void complete(std::uint64_t number) noexcept;
    bool is_done(std::uint64_t number) const { return done_[number % window]; }
    const StoredSegment& place(std::uint64_t number) const { return segments_[number % window]; }
    StoredSegment& place(std::uint64_t number) { return segments_[number % window]; }

    Channels& channels_;
    CallQueue& calls_;
    RoomNeeded& room_needed_;
    const Operations& operations_;
    InFlight& in_flight_;
    Failure& failure_;

    std::uint64_t begun_ = 0;  ///< segments so far
    // Numbers of places that are in use, from oldest_ on: in the order in which segments begin.
    std::uint64_t oldest_ = 0, next_ = 0;
    std::array<StoredSegment, window> segments_;
    std::array<bool, window> done_{};           ///< it is complete
    std::array<std::uint64_t, window> room_{};  ///< RoomNeeded::version(), by place
    std::uint64_t room_of_all_ = 0;             ///< the least of them
};

}  // namespace trefoil
