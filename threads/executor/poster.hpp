// SPDX-License-Identifier: BSD-3-Clause
// One worker's outgoing side: which puts may leave, and posting them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "threads/executor/channels.hpp"
#include "threads/executor/direct_call.hpp"
#include "threads/executor/failure.hpp"
#include "threads/executor/segment_queue.hpp"
#include "threads/executor/steps.hpp"
#include "threads/executor/timeline_notes.hpp"

namespace trefoil {

/// Where the put goes in the peer's vector; nothing: to its landing slot.
inline std::span<const DirectRun> direct_runs(const RunningSegment& segment,
                                              const ProgramPut& put) {
    return segment.direct() == nullptr ? std::span<const DirectRun>()
                                       : segment.direct()->there(segment.program().number, put);
}

/// The put has to wait until the peer has told where it lands, or how far it is (see OutUses), or
/// until the peer's vector is ready for it (see DirectProgram).
inline bool awaits_room(const Channels& channels, const RunningSegment& segment,
                        const ProgramPut& put) {
    const OutChannel& channel = channels.out[put.channel];
    return !channel.wired.load(std::memory_order_relaxed) ||
           !channel.uses.may_put(segment.out_use(put.channel), channel.ring) ||
           (!direct_runs(segment, put).empty() &&
            !channel.permissions.have(segment.out_use(put.channel)));
}

/// Posts the puts of one group, of every step that is open, in the order of the steps in each part,
/// and acknowledgements behind them. Used by the group's owner.
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
    /// The peer of an incoming channel waits for permissions of the call from a number on. If one
    /// of those runs, it cannot end before its permission is put.
    void accepted(const DirectCall& call, std::uint32_t in, std::uint64_t from) noexcept;

  private:
    /// The next step to post, how many of its puts were posted or are another group's, and of the
    /// next one how many runs and bytes were.
    struct Cursor {
        std::uint32_t step = 0;
        std::uint32_t put = 0;
        std::uint32_t run = 0;
        std::size_t bytes = 0;
        std::uint32_t checksum = 0;  ///< of a message of several runs
    };
    /// Bytes of a message, and where they go.
    struct Portion {
        std::size_t from = 0, bytes = 0;
        const RemoteMemory& memory;
        std::uint64_t target = 0;
    };
    /// A segment whose puts are not all posted.
    struct Posting {
        std::vector<Cursor> cursors;   ///< by part
        std::uint32_t unfinished = 0;  ///< parts
        // Its permissions. What is kept here of the segment is looked at when it may have ended.
        const DirectCall* call = nullptr;
        std::uint64_t number = 0;                ///< of the call
        const DirectProgram* direct = nullptr;   ///< stands while permissions are left
        std::vector<std::uint32_t> permissions;  ///< to be put: indices into `incoming`
    };

    /// Of an incoming channel.
    struct StartedUse {
        std::uint32_t in = 0, use = 0;
    };

    bool post_part(RunningSegment& segment, std::uint32_t part, Posting& posting) noexcept;
    bool post_step(RunningSegment& segment, const ProgramStep& step, Cursor& cursor) noexcept;
    bool post_permissions(RunningSegment& segment, Posting& posting) noexcept;
    bool post_permission(RunningSegment& segment, const DirectProgram::Incoming& incoming) noexcept;
    void note_uses(const RunningSegment& segment) noexcept;
    void keep(const StartedUse& started) noexcept;
    bool acknowledge(const StartedUse& started) noexcept;
    bool post_control(std::uint32_t out, std::uint64_t bits) noexcept;
    bool is_direct_as_told(const RunningSegment& segment, const ProgramPut& put) noexcept;
    bool post_message(RunningSegment& segment, const ProgramStep& step, const ProgramPut& put,
                      Cursor& cursor) noexcept;
    void fail_by(const OutChannel& channel) noexcept;
    Portion next_portion(const RunningSegment& segment, const ProgramPut& put,
                         const Cursor& cursor) const noexcept;
    PutResult post(RunningSegment& segment, const ProgramPut& put, Cursor& cursor,
                   const Portion& portion) noexcept;
    const std::byte* source_of(const RunningSegment& segment, const ProgramPut& put,
                               const Portion& portion, void*& descriptor) const noexcept;
    const std::byte* gather(const RunningSegment& segment, const ProgramPut& put,
                            const Portion& portion, void*& descriptor) noexcept;

    int group_number_;
    std::uint32_t executor_;
    PortGroup* group_;
    Channels& channels_;
    SegmentQueue& queue_;
    Steps& steps_;
    Failure& failure_;
    TimelineNotes& notes_;
    std::array<Posting, segment_window> postings_;  ///< by place in the queue
    std::vector<StartedUse> due_;                   ///< those that their senders are to hear of
    std::uint32_t leaving_ = 0;
    bool refused_ = false;
};

}  // namespace trefoil
