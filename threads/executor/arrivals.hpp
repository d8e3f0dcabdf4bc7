// SPDX-License-Identifier: BSD-3-Clause
// One worker's incoming side: which segment a message belongs to, and that it was expected.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "threads/executor/channels.hpp"
#include "threads/executor/control_messages.hpp"
#include "threads/executor/failure.hpp"
#include "threads/executor/segment_queue.hpp"
#include "threads/executor/steps.hpp"
#include "threads/executor/timeline_notes.hpp"

namespace trefoil {

/// Takes the notifications of one group. Messages of segments that run here are events of their
/// step; those that are early wait for their segment; those that do not fit the call are a
/// failure. Used by the group's owner.
class Arrivals {
  public:
    Arrivals(std::size_t group, Channels& channels, SegmentQueue& queue, Steps& steps,
             ControlMessages& controls, Failure& failure, TimelineNotes& notes);

    /// Room for the messages of programs that may run. Throws bad_alloc.
    void make_room(const ProgramSizes& sizes);
    /// The segment runs: takes those of its messages that have been early.
    void adopt(RunningSegment& segment) noexcept;
    /// A notification of an incoming channel has come. True: a call may go on by it.
    bool arrive(std::uint64_t bits, std::uint32_t channel) noexcept;

    std::size_t early() const { return early_.size(); }

  private:
    /// A use of an incoming channel whose segment runs here, or did not long ago.
    struct Use {
        std::uint64_t segment = 0;   ///< 1 + its number; 0: none
        std::uint32_t number = 0;    ///< of the use
        std::uint16_t messages = 0;  ///< that it has
        std::uint16_t missing = 0;   ///< those that have not come
    };
    static_assert(Notification::index_limit <= 0xffff);
    static constexpr std::size_t kept_uses = 4;

    /// A message of a use that has not begun here.
    struct Early {
        std::uint64_t bits = 0;
        std::uint32_t channel = 0;
    };

    void take_early(std::size_t expected) noexcept;
    void keep(const Early& early) noexcept;
    Use* use_of(std::uint32_t channel, const Notification& notification) noexcept;
    void count(Use& use, std::uint32_t channel, const Notification& notification) noexcept;
    void fail_for_double(std::uint32_t channel) noexcept;
    bool fits(const RunningSegment& segment, std::uint32_t channel,
              const Notification& notification, std::size_t& runs) noexcept;
    std::uint32_t checksum_of(const RunningSegment& segment, std::uint32_t channel,
                              const Notification& notification, std::size_t runs) const noexcept;

    std::size_t group_;
    Channels& channels_;
    const std::uint32_t compared_check_;  ///< the bits of a check that the transport carries
    const std::uint32_t compared_use_;    ///< those of the number of a use
    SegmentQueue& queue_;
    Steps& steps_;
    ControlMessages& controls_;
    Failure& failure_;
    TimelineNotes& notes_;
    /// By incoming channel and use. Those of the last four uses stand, so that a message of a use
    /// to come finds none, and one that comes twice is found.
    std::vector<std::array<Use, kept_uses>> uses_;
    std::vector<Early> early_;
};

}  // namespace trefoil
