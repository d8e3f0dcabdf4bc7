// SPDX-License-Identifier: BSD-3-Clause
// One worker's outgoing side: which puts may leave, and posting them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "threads/executor/channels.hpp"
#include "threads/executor/failure.hpp"
#include "threads/executor/segment_queue.hpp"
#include "threads/executor/steps.hpp"
#include "threads/executor/timeline_notes.hpp"

namespace trefoil {

/// The put has to wait until the peer has told where it lands, or has acknowledged an earlier use:
/// see OutUses.
inline bool awaits_room(const OutChannel& channel, const RunningSegment& segment,
                        const ProgramPut& put) {
    return !channel.wired.load(std::memory_order_acquire) ||
           (put.acknowledged_in == ProgramPut::nothing &&
            !channel.uses.may_put(segment.out_use(put.channel)));
}

/// Posts the puts of one group, of every step that is open, in the order of the steps in each part.
/// Used by the group's owner.
class Poster {
  public:
    /// `executor`: what cookies call it.
    Poster(int group, std::uint32_t executor, Channels& channels, SegmentQueue& queue, Steps& steps,
           Failure& failure, TimelineNotes& notes);

    /// Room for the programs that may run, here and in the segment's staging for this group. Throws
    /// bad_alloc, and what the group throws.
    void make_room(const ProgramSizes& sizes, RunningSegment& segment);
    /// From now on the segment's puts are posted as its steps open.
    void adopt(RunningSegment& segment) noexcept;
    /// Posts what may leave; false: there was no step to go on with.
    bool post_ready() noexcept;
    /// In the last post_ready() the group did not accept a put. No arrival will say when it does.
    bool refused() const { return refused_; }
    /// Puts whose sources may still be read: `sent` or `failed` is to come.
    std::uint32_t leaving() const { return leaving_; }
    void left() noexcept { --leaving_; }

  private:
    /// The next step to post, and how many of its puts were posted or are another group's.
    struct Cursor {
        std::uint32_t step = 0;
        std::uint32_t put = 0;
    };
    /// A segment whose puts are not all posted.
    struct Posting {
        std::vector<Cursor> cursors;   ///< by part
        std::uint32_t unfinished = 0;  ///< parts
    };

    bool post_part(RunningSegment& segment, std::uint32_t part, Posting& posting) noexcept;
    bool post_step(RunningSegment& segment, const ProgramStep& step, Cursor& cursor) noexcept;
    PutResult post(RunningSegment& segment, const ProgramPut& put, const OutChannel& channel,
                   std::uint32_t step) noexcept;
    const std::byte* gather(const RunningSegment& segment, const ProgramPut& put,
                            const OutChannel& channel, std::uint64_t target,
                            void*& descriptor) const noexcept;

    int group_number_;
    std::uint32_t executor_;
    PortGroup* group_;
    Channels& channels_;
    SegmentQueue& queue_;
    Steps& steps_;
    Failure& failure_;
    TimelineNotes& notes_;
    std::array<Posting, segment_window> postings_;  ///< by place in the queue
    std::uint32_t leaving_ = 0;
    bool refused_ = false;
};

}  // namespace trefoil
