// SPDX-License-Identifier: BSD-3-Clause
// The executor's running state: segments in flight (shared) and workers (one thread each).
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "threads/executor/executor.hpp"
#include "threads/executor/notification.hpp"
#include "threads/executor/segment_buffers.hpp"

namespace trefoil {

/// A segment in flight. Worker 0 fills it; then workers share it through the atomics alone.
struct Executor::Segment {
    static constexpr std::uint32_t none = ~0U;

    const Program* program = nullptr;
    std::uint64_t number = 0;  ///< running number over all calls
    std::size_t index_in_call = 0;
    /// Tokens left per step. The thread that spends the last one (acq_rel) sees what all others
    /// wrote before spending theirs, and completes the step.
    std::unique_ptr<std::atomic<std::uint32_t>[]> tokens;
    /// Per part: the step whose puts may be posted, or `none`. Release by the completer of the step
    /// before; acquire by each worker that posts.
    std::unique_ptr<std::atomic<std::uint32_t>[]> open_step;
    /// Per arrival: has it come? Written by the owner of its port only; read by others for
    /// messages.
    std::unique_ptr<std::atomic<std::uint8_t>[]> arrived;
    /// Parts not complete, the closing one aside. The thread that completes the last one (acq_rel)
    /// sees all results.
    std::atomic<std::uint32_t> unfinished{0};
    /// Parts not complete, plus workers that have not posted all their puts (those still look
    /// here).
    std::atomic<std::uint32_t> holders{0};
    /// True from start to completion. Release by the last completer, acquire by worker 0 before
    /// reuse.
    std::atomic<bool> running{false};
    SegmentBuffers buffers;
    std::vector<std::uint32_t> in_use;   ///< by incoming channel that the program uses: the use
    std::vector<std::uint32_t> out_use;  ///< by outgoing channel, likewise
    std::vector<std::byte> scratch;
    // For the timeline only: when it began, and when the open step of each part was opened. Written
    // before what publishes segment and step, read by their completers.
    std::int64_t begun = 0;
    std::vector<std::int64_t> opened;
    std::vector<LocalMemory> packs;  ///< per group; registered where the transport needs it
    std::vector<std::vector<std::byte>> pack_storage;
    std::size_t step_capacity = 0, part_capacity = 0, arrival_capacity = 0;

    void reserve(const Program& program, Channels& channels);
};

/// What one worker knows; touched by its thread only.
struct alignas(64) Executor::Worker {
    Worker(int number, bool may_spin) : index(number), waiting(may_spin) {}

    int index;
    Waiting waiting;
    std::uint64_t adopted = 0;  ///< segments adopted, running number
    /// Per segment in flight and part: the next step to post, and how many of its puts were posted.
    struct Cursor {
        std::uint32_t step = 0;
        std::uint32_t put = 0;
    };
    std::array<std::vector<Cursor>, window> cursors;
    std::array<std::uint32_t, window> parts_to_post{};  ///< parts whose puts are not all posted
    /// By incoming channel and use modulo 8: 1 + the number of the segment, or 0 for none. Those of
    /// the last four uses stand, so that a notification of a use to come finds none.
    std::vector<std::array<std::uint64_t, Notification::use_modulus>> segments_by_use;
    std::vector<std::uint32_t> early;  ///< notifications of uses that have not begun here
    std::array<Event, 64> events;
    std::chrono::steady_clock::time_point idle_since{};
    std::chrono::steady_clock::time_point next_check{};
    std::chrono::steady_clock::duration next_look{};  ///< at the peers, after so much idle time
    bool is_idle = false;
    bool warned = false;
    bool reported = false;
    bool in_caller = false;          ///< runs in the thread that called run()
    std::uint32_t vain_polls = 0;    ///< of this call, for the caller's progress
    bool refused = false;            ///< a put is to be tried again; no arrival will say when
    std::uint32_t changes_seen = 0;  ///< WakeUp::changes() before it last looked for work
    TraceRing* trace = nullptr;      ///< null: no timeline is kept
    std::int64_t wait_begin = 0, wait_end = 0;  ///< of a wait that lasts; 0: none

    /// The time, for the timeline; 0 without one, and then no clock is read.
    std::int64_t clock() const { return trace == nullptr ? 0 : trace_clock(); }
};

/// How often a worker that naps looks for trouble, and how often at the peers' processes.
inline constexpr std::chrono::milliseconds check_interval{250};
inline constexpr std::chrono::seconds look_interval{1};
/// The longest sleep while a put waits to be tried again, or a peer connects.
inline constexpr std::chrono::microseconds busy_sleep{1000};

/// Of so many polls in vain, one is followed by the caller's progress, which costs about as much.
inline constexpr std::uint32_t polls_per_progress = 8;

/// Cookies of control messages name the outgoing channel; those of data name segment and step.
inline constexpr std::uint64_t control_bit = std::uint64_t{1} << 63;
constexpr std::uint64_t control_cookie(std::size_t out_channel) {
    return control_bit | out_channel;
}
constexpr bool is_control_cookie(std::uint64_t cookie) {
    return (cookie & control_bit) != 0;
}
constexpr std::size_t channel_of_control(std::uint64_t cookie) {
    return static_cast<std::size_t>(cookie & ~control_bit);
}

}  // namespace trefoil
