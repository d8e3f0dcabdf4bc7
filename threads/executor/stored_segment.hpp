// SPDX-License-Identifier: BSD-3-Clause
// One segment of a call whose messages are stores (stored_calls.hpp), step by step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "threads/executor/call.hpp"
#include "threads/executor/call_report.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/failure.hpp"
#include "threads/executor/operations.hpp"
#include "threads/executor/program_sizes.hpp"
#include "threads/executor/running_call.hpp"
#include "threads/executor/segment_buffers.hpp"
#include "threads/executor/timeline_notes.hpp"
#include "threads/kernels/aligned_bytes.hpp"

namespace trefoil {

/// One call's segment that runs, step by step. By the thread that advances it.
class StoredSegment {
  public:
    /// Places buffers and uses, and does what comes before the first step.
    void begin(RunningCall& call, const CallSegment& segment, std::uint64_t number,
               Channels& channels, const Operations& operations, TimelineNotes& notes) noexcept;
    void make_room(const ProgramSizes& sizes);
    RunningCall& call() const { return *call_; }

    /// Does all that can be done now; `moved` if anything. True: it is complete.
    bool go_on(Channels& channels, const Operations& operations, Failure& failure,
               TimelineNotes& notes, bool& moved) noexcept;
    /// What it waits for has come. A glance.
    bool may_go_on(const Channels& channels) const noexcept {
        return waits_for_ == Awaited::message ? has_come()
                                              : waits_for_ == Awaited::room && has_room(channels);
    }
    /// may_go_on() sees it come.
    bool waits_for_flag() const noexcept {
        return waits_for_ == Awaited::message || waits_for_ == Awaited::room;
    }
    /// It was complete, and those that began before it, too: its slots are given back.
    void give_back(Channels& channels) noexcept;
    /// What it waits for.
    void list_missing(const Channels& channels, std::vector<Missing>& found) const;

  private:
    enum class Awaited : std::uint8_t { nothing, message, room, connection };
    /// Ahead of a message. The receiver looks at `mark`, which is written last.
    struct Flag {
        std::uint64_t mark;  ///< of the use
        std::uint64_t sign;  ///< of the call, and of the message's length
    };

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
    std::uint64_t sign(std::uint64_t bytes) const noexcept;
    const Flag& flag_of(const ProgramArrival& message, const Channels& channels) const noexcept;
    bool has_come() const noexcept;
    bool has_room(const Channels& channels) const noexcept;

    RunningCall* call_ = nullptr;
    const Program* program_ = nullptr;
    std::uint64_t number_ = 0;  ///< of all segments so far
    std::uint32_t first_ = 0;   ///< in Program::order: the present step, of all parts
    std::uint32_t end_ = 0;     ///< behind it
    std::uint32_t at_ = 0;      ///< the part's step that is at work
    std::uint32_t done_ = 0;    ///< puts of it, or messages
    bool sends_ = false;        ///< else it receives
    Awaited waits_for_ = Awaited::nothing;
    std::uint32_t waits_at_ = 0;             ///< the channel
    const std::uint64_t* waited_ = nullptr;  ///< the flag's mark
    std::uint64_t waited_mark_ = 0;          ///< what it will be
    std::vector<std::uint64_t> in_use_;      ///< by channel
    std::vector<std::uint64_t> out_use_;
    AlignedBytes scratch_;
    SegmentBuffers buffers_;
    std::int64_t segment_begun_ = 0, step_begun_ = 0;
};

}  // namespace trefoil
