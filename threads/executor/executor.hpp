// SPDX-License-Identifier: BSD-3-Clause
// The executor: port threads run programs over the channels, segment after segment.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "threads/executor/call.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/failure.hpp"
#include "threads/executor/notification.hpp"
#include "threads/executor/operations.hpp"
#include "threads/executor/program.hpp"
#include "threads/executor/wake_up.hpp"
#include "threads/timeline/trace.hpp"
#include "threads/workers/port_threads.hpp"
#include "threads/workers/waiting.hpp"
#include "topo/error.hpp"

namespace trefoil {

struct ExecutorOptions {
    bool may_spin = false;
    std::chrono::milliseconds stall_warning{10'000};
    std::chrono::milliseconds timeout{120'000};
    std::chrono::milliseconds greeting_timeout{30'000};  ///< for the first message of a channel
    /// Called when nothing has happened for a second; returns what is wrong with a peer, or "".
    std::function<std::string()> check_peers;
    Progress progress{};     ///< called in the thread of run() and greet() while they wait
    Trace* trace = nullptr;  ///< has a ring for each worker and outlives the executor; null: off
};

/// Why landing slots can be reused. Segments are numbered through all calls of a communicator, and
/// a rank runs at most window = 2 of them at a time, so one that is in segment t has completed all
/// up to t - 2. A channel counts its own uses, a segment that sends through it being one, alike at
/// both ends; use u lands in slot u mod 4. A program is of one of two kinds:
///
///  - *synchronising*: a rank that completes the segment has heard, directly or through others,
///  from
///    every rank in that segment (allreduce, barrier: the verifier proves it), or
///  - *acknowledged*: a rank that has taken in a segment's messages says so to their senders.
///
/// A put of use u waits until use u - 2 is settled: acknowledged, or of a synchronising segment.
/// Then slot u mod 4 is free, because the receiver has consumed use u - 4:
///
///  - u - 2 acknowledged: the receiver had started that segment, at least 2 after the one of
///    u - 4, which therefore was complete there.
///  - u - 2 synchronising: its segment is at least 2 before the sender's, hence complete at the
///    sender, hence started at the receiver; again that of u - 4 was complete there.
///
/// So a receiver is never more than 3 uses behind on any channel, and a notification needs no more
/// than the use modulo 8, however far ranks drift apart in rooted collectives. Waiting for an
/// acknowledgement does not deadlock: it waits for an earlier segment, which never waits for a
/// later one. tests/comm/communicator/stress_test.cpp attacks all this.
///
/// Thread-safety: one run() or greet() at a time; both from any thread.
class Executor {
  public:
    static constexpr std::uint32_t window = 2;
    static constexpr std::uint32_t landing_slots = 2 * window;

    /// `channels` has one group per worker of `port_threads`. Both outlive the executor.
    Executor(Channels& channels, PortThreads& port_threads, ExecutorOptions options);
    ~Executor();

    /// Makes room for `program`, so that run() does not allocate. May throw bad_alloc.
    void reserve(const Program& program);

    /// Tells the peers that this rank sets up channels, as all must now: one that waits for a
    /// message instead makes another call, and can say so. Before each greet().
    void announce_connecting() noexcept;

    /// Verifies the new channels: sends hello on the outgoing ones from `first_out` on and waits
    /// until the incoming ones from `first_in` on have been greeted. Throws Error(timeout) after
    /// ExecutorOptions::greeting_timeout, or Error(peer_lost) when the transport refuses; both name
    /// rank, host, port and NIC of either end.
    void greet(std::size_t first_out, std::size_t first_in);

    /// Runs the call on all ports; returns when the result is complete and the input may be reused.
    /// On failure tells the peers, and failure() says what happened; the executor is unusable then.
    Status run(const Call& call) noexcept;

    /// Tells the peers that this rank goes away. Best effort, bounded.
    void leave() noexcept;

    std::string failure() const { return failure_.text(); }

    /// Of the buffers that outgoing messages are gathered in. Not while a call runs.
    std::size_t staging_bytes() const;

  private:
    struct Segment;
    struct Worker;

    // executor.cpp
    void work(int worker) noexcept;
    void run_call(Worker& me) noexcept;
    bool start_segments(Worker& me);
    void start_segment(Worker& me, std::size_t number);
    bool adopt_segments(Worker& me);
    void spend_token(Worker& me, Segment& segment, std::uint32_t step);
    void complete_step(Worker& me, Segment& segment, std::uint32_t step);
    void open(Segment& segment, std::uint32_t part, std::uint32_t step);
    void complete_part(Worker& me, Segment& segment, std::uint32_t part);
    void number_uses(Segment& segment);
    void perform(Worker& me, const Segment& segment, ProgramRange ops) const noexcept;
    void release(Worker& me, Segment& segment);

    // executor_posting.cpp
    bool post_ready(Worker& me);
    bool post_step(Worker& me, Segment& segment, const ProgramStep& step);
    PutResult post(Worker& me, Segment& segment, const ProgramPut& put, std::uint64_t cookie);
    bool awaits_room(const Segment& segment, const ProgramPut& put) const;

    // executor_trace.cpp
    void note_call(Worker& me, std::int64_t begin) noexcept;
    void note_progress(Worker& me) noexcept;
    void note_segment(Worker& me, const Segment& segment) noexcept;
    void note_step(Worker& me, const Segment& segment, const ProgramStep& step) noexcept;
    void note_put(Worker& me, const Segment& segment, const ProgramStep& step,
                  const ProgramPut& put, std::int64_t begin) noexcept;
    void note_arrival(Worker& me, const InChannel& channel, std::uint64_t segment,
                      const ProgramStep& step, std::uint32_t message, std::int64_t begin) noexcept;

    // executor_sleep.cpp
    bool idle(Worker& me);
    bool idle_once(Worker& me);

    // executor_events.cpp
    bool poll(Worker& me);
    void handle(Worker& me, const Event& event);
    void arrive(Worker& me, std::uint32_t bits);
    void count_arrival(Worker& me, Segment& segment, std::uint32_t bits);
    void control(Worker& me, std::uint32_t bits);
    Segment* segment_of(Worker& me, const Notification& notification);
    void take_report(Worker& me, const Notification& notification);

    // executor_greeting.cpp
    bool poll_all_groups();
    PutResult say(std::size_t out_channel, Control kind, std::uint32_t number) noexcept;
    bool say_hello(std::vector<std::size_t>& silent);
    std::string silence_text(const std::vector<std::size_t>& silent, std::size_t first_in) const;
    std::string route_text(std::size_t out_channel) const;

    // executor_failure.cpp
    bool look_for_trouble(Worker& me, std::chrono::steady_clock::duration idle_for);
    bool listen(std::size_t group) noexcept;
    bool has_left(Rank peer) const noexcept;
    void tell_peers(std::uint32_t control) noexcept;
    bool missing(std::size_t in_channel, const Segment*& segment, std::uint32_t& step) const;
    std::string waiting_text() const;
    bool fail_with_a_peer(std::chrono::steady_clock::duration idle_for);
    bool blocked(std::size_t out_channel) const;
    void report_stall() noexcept;

    Channels& channels_;
    PortThreads& port_threads_;
    ExecutorOptions options_;
    std::vector<std::unique_ptr<Segment>> segments_;
    std::vector<std::unique_ptr<Worker>> workers_;
    const Call* call_ = nullptr;
    std::uint64_t calls_ = 0;          ///< made so far, this one included
    std::uint64_t call_hash_ = 0;      ///< of the call and its number, for the notifications
    std::size_t started_in_call_ = 0;  ///< by worker 0
    std::uint32_t greetings_ = 0;      ///< set-ups that are complete
    std::uint64_t next_segment_ = 0;   ///< running number of the next one to start, by worker 0
    /// Segments started; store-release by worker 0 publishes the segment's state to
    /// adopt_segments().
    std::atomic<std::uint64_t> started_{0};
    /// Segments of this call that are complete.
    std::atomic<std::size_t> completed_{0};
    /// Control messages that the transport has accepted and not sent yet; of interest to greet().
    std::atomic<std::uint32_t> controls_under_way_{0};
    WakeUp wake_up_;
    Failure failure_;
    Operations operations_;
};

}  // namespace trefoil
