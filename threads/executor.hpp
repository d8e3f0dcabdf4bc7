// SPDX-License-Identifier: BSD-3-Clause
// The executor: port threads run programs over the wire, segment after segment.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "threads/program.hpp"
#include "threads/reduce.hpp"
#include "threads/team.hpp"
#include "threads/waiting.hpp"
#include "threads/wire.hpp"
#include "topo/error.hpp"

namespace trefoil {

/// One collective call, lowered. The vector is cut into `segments` segments of `segment_bytes` (the
/// last may be shorter and has a program of its own); each runs the whole schedule.
struct Call {
    const Program* program = nullptr;       ///< of a full segment
    const Program* last_program = nullptr;  ///< of the last segment
    std::size_t segments = 1;
    std::size_t segment_bytes = 0;
    std::size_t bytes = 0;             ///< of the whole vector
    const std::byte* input = nullptr;  ///< null or equal to `vector`: in place
    std::byte* vector = nullptr;       ///< where the result is built
    ReduceKernels kernels;
    std::uint64_t signature = 0;  ///< equal on all ranks that make the same call
    const char* text = "";        ///< the call in words, for messages
};

struct ExecutorOptions {
    bool may_spin = false;
    std::chrono::milliseconds stall_warning{10'000};
    std::chrono::milliseconds timeout{120'000};
    /// Called when nothing has happened for a second; returns what is wrong with a peer, or "".
    std::function<std::string()> check_peers;
};

/// Why slots can be reused without credits. At most `window` segments run at a time on a rank, and
/// segment numbers run through all calls of a communicator. Every collective run here is such that
/// a rank that completes a segment has heard, directly or through others, from every rank in that
/// segment (the verifier proves it: exactly-once allreduce, barrier knowledge). A peer that sends
/// into slot s mod 2*window for segment s has completed segment s - window; hence this rank had
/// started segment s - window, hence completed segment s - 2*window, the slot's last user.
/// Collectives without that property (rooted ones) must bring credits of their own.
///
/// Thread-safety: one run() or greet() at a time; both from any thread.
class Executor {
  public:
    static constexpr std::uint32_t window = 2;
    static constexpr std::uint32_t landing_slots = 2 * window;

    /// `wire` has one group per worker of `team`. Both outlive the executor.
    Executor(Wire& wire, Team& team, ExecutorOptions options);
    ~Executor();

    /// Makes room for `program`, so that run() does not allocate. May throw bad_alloc.
    void reserve(const Program& program);

    /// Tells the peers that this rank sets up channels, as all must now: one that waits for a
    /// message instead makes another call, and can say so. Before each greet().
    void announce_connecting() noexcept;

    /// Sends hello on the outgoing channels from `first_out` on and waits until the incoming ones
    /// from `first_in` on have been greeted. Throws Error(timeout) that names peer and port.
    void greet(std::size_t first_out, std::size_t first_in);

    /// Runs the call on all ports; returns when the result is complete and the input may be reused.
    /// On failure tells the peers, and failure() says what happened; the executor is unusable then.
    Status run(const Call& call) noexcept;

    /// Tells the peers that this rank goes away. Best effort, bounded.
    void leave() noexcept;

    std::string failure() const;

  private:
    struct Segment;
    struct Worker;

    // executor.cpp
    void work(int worker) noexcept;
    bool start_segments();
    void start_segment(std::size_t number);
    bool adopt_segments(Worker& me);
    bool post_ready(Worker& me);
    bool post_step(Worker& me, Segment& segment, const ProgramStep& step);
    PutResult post(Worker& me, Segment& segment, const ProgramPut& put, std::uint64_t cookie);
    void spend_token(Segment& segment, std::uint32_t step);
    void complete_step(Segment& segment, std::uint32_t step);
    void perform(const Segment& segment, ProgramRange ops);
    void release(Segment& segment);
    bool idle(Worker& me);

    // executor_events.cpp
    bool poll(Worker& me);
    void handle(Worker& me, const Event& event);
    void arrive(Worker& me, std::uint32_t bits);
    void count_arrival(Worker& me, Segment& segment, std::uint32_t bits);
    void control(Worker& me, std::uint32_t bits);
    bool poll_all_groups();

    // executor_failure.cpp
    bool look_for_trouble(Worker& me, std::chrono::steady_clock::duration idle_for);
    void fail(Status status, const std::string& text) noexcept;
    void tell_peers(std::uint32_t control) noexcept;
    bool missing(std::size_t in_channel, const Segment*& segment, std::uint32_t& step) const;
    std::string waiting_text() const;
    bool fail_with_a_peer(std::chrono::steady_clock::duration idle_for);

    Wire& wire_;
    Team& team_;
    ExecutorOptions options_;
    std::vector<std::unique_ptr<Segment>> segments_;
    std::vector<std::unique_ptr<Worker>> workers_;
    const Call* call_ = nullptr;
    std::size_t started_in_call_ = 0;       ///< by worker 0
    std::uint64_t call_first_segment_ = 0;  ///< running number of the call's first segment
    std::uint32_t greetings_ = 0;           ///< set-ups that are complete
    std::uint64_t next_segment_ = 0;  ///< running number of the next one to start, by worker 0
    /// Segments started; store-release by worker 0 publishes the segment's state to
    /// adopt_segments().
    std::atomic<std::uint64_t> started_{0};
    /// Segments of this call that are complete.
    std::atomic<std::size_t> completed_{0};
    std::atomic<int> failed_{0};  ///< a Status; pairs with the text under the mutex
    mutable std::mutex failure_mutex_;
    std::string failure_text_;
};

}  // namespace trefoil
