// SPDX-License-Identifier: BSD-3-Clause
// The executor: the calls of one communicator, run over its channels, segment after segment.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "threads/executor/call.hpp"
#include "threads/executor/call_report.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/engine.hpp"
#include "threads/executor/executor_options.hpp"
#include "threads/executor/executor_parts.hpp"
#include "threads/executor/peer_watch.hpp"
#include "threads/executor/running_call.hpp"
#include "threads/executor/worker_part.hpp"
#include "topo/error.hpp"

namespace trefoil {

/// Runs calls: any number are in flight. They start in the order in which they were issued, their
/// segments one after the other, two at a time; they complete in any order. channel_uses.hpp says
/// why a channel's landing slots can be reused meanwhile. The engine drives.
///
/// Thread-safety: one thread at a time issues calls (issue(), run(), count_empty_call()). Any
/// thread may test and wait meanwhile. What needs `Engine::Exclusive` says so.
class Executor {
  public:
    static constexpr std::uint32_t window = segment_window;

    /// `channels` has the engine's groups. Both outlive the executor. Its peers' communicator of
    /// that number may begin before or later.
    Executor(Channels& channels, Engine& engine, ExecutorOptions options);
    ~Executor();  ///< no call is in flight
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    Engine& engine() { return engine_; }
    /// What the engine and cookies call it.
    std::uint32_t number() const { return number_; }
    std::uint64_t communicator() const { return parts_.channels.communicator; }
    /// Of its channels' keys.
    std::uint64_t key() const { return parts_.channels.key; }
    WorkerPart& part(std::size_t worker) { return *worker_parts_[worker]; }
    PeerWatch& watch() { return watch_; }

    /// Room will be made for `program` before it runs. By the thread that issues. May throw
    /// bad_alloc.
    void reserve(const Program& program);

    /// Puts the call, which has a segment, in flight, as the next in order. `running` stays where
    /// it is until is_over().
    void issue(RunningCall& running, const Call& call, const CallVectors& vectors) noexcept;
    /// Before a persistent call is issued whose messages may land in its vector. Throws bad_alloc,
    /// and then it must not be issued.
    void start_direct(DirectCall& call) { parts_.direct.start(call, numbers_->made() + 1); }
    /// It is over, and will not be started again. While the engine is held.
    void end_direct(DirectCall& call) noexcept { parts_.direct.end(call); }
    /// The call is done, or has failed: nobody uses the caller's buffers any more. Whoever sees it
    /// sees all results.
    bool is_over(const RunningCall& running) const noexcept {
        if (running.done() || settled()) {
            return true;
        }
        if (!asked_.load(std::memory_order_relaxed)) {
            asked_.store(true, std::memory_order_relaxed);
        }
        return false;
    }
    /// Of a call that is over. failure() says what happened.
    Status status_of(const RunningCall& running) const noexcept {
        return running.done() ? Status::success : parts_.failure.status();
    }
    /// Works for all calls in flight for a moment, if nobody else does. False: nothing moved.
    bool advance() { return engine_.advance(*this); }
    /// Returns when over(), which may look at several calls.
    template <typename Over>
    void wait_until(Over&& over) {
        engine_.drive_until(*this, over);
    }
    void wait(const RunningCall& running) {
        wait_until([&] { return is_over(running); });
    }
    /// Runs the call on all ports; returns when it is over. After a failure the peers have been
    /// told; only destruction may follow.
    Status run(const Call& call, const CallVectors& vectors) noexcept {
        return run(call, vectors.input, vectors.output, vectors.direct);
    }
    /// A call in which nothing moves. It has a number as all calls: a rank that alone has nothing
    /// to do does not take its next call for the others' present one.
    void count_empty_call() noexcept { (void)numbers_->next(); }
    std::uint64_t calls_in_flight() const noexcept { return parts_.in_flight.count(); }

    /// The reason for an error, if it is known elsewhere; after a failed call that one's. While no
    /// call is in flight. Throws bad_alloc.
    Cause cause_of(const Error& error);
    /// This rank cannot make its next call, for a reason that lies outside: the peers are told, the
    /// port groups end, and every later call fails. After a failed call, which has done all that,
    /// nothing happens.
    void give_up(const Cause& cause) noexcept;

    /// After a failure: returns when it is settled(). Not by a thread that drives the engine.
    void await_settlement() noexcept;

    std::string failure() const { return parts_.failure.text(); }
    Status failed() const noexcept { return parts_.failure.status(); }
    /// Throws bad_alloc.
    Cause cause() const { return parts_.failure.cause(); }
    /// The same with what was added for this rank's user.
    Error error() const { return {failed(), failure(), cause().blame}; }

    /// What its calls in flight wait for. While the engine is held.
    ExecutorReport report();
    /// Of the buffers that outgoing messages are gathered in. While the engine is held.
    std::size_t staging_bytes() const;

    // By the engine.
    /// Its calls have failed and nothing of them goes on.
    bool settled() const noexcept { return settled_.load(std::memory_order_seq_cst); }
    /// Somebody has asked for a call that is not over, since the last time.
    bool was_asked() noexcept {
        return asked_.load(std::memory_order_relaxed) &&
               asked_.exchange(false, std::memory_order_relaxed);
    }
    /// Grows when its calls go on.
    std::uint64_t moves() const noexcept;
    /// After a failure: tells the peers, ends the groups, gives up what is in flight. By the one
    /// thread that has all groups.
    void settle() noexcept;
    bool needs_settling() const noexcept { return parts_.failure.happened() && !settled(); }
    /// The port groups end because of another executor: it fails, too, and says so. The same.
    void fall_with(const Cause& cause) noexcept;
    /// Another one of the same communicator has failed.
    void fail(const Cause& cause) noexcept { parts_.failure.set(cause); }
    /// The OpenMP runtime grants too few threads.
    void threads_refused(int wanted) noexcept;

  private:
    /// By registers: a struct would be read as a whole just after it was written in parts, and then
    /// a core waits until all that it has stored so far, puts as well, has left it.
    Status run(const Call& call, const std::byte* input, std::byte* output,
               DirectCall* direct) noexcept;
    bool begin_here(RunningCall& running) noexcept;
    ListenUntil listen_until();
    void report_failure() noexcept;
    Cause first_of_aborts(Cause cause, std::span<const Rank> gone) noexcept;
    void give_up_if_late() noexcept;
    void let_go_of_buffers() noexcept;
    std::string oldest_call() const;

    Engine& engine_;
    std::uint32_t number_ = 0;
    ExecutorParts parts_;
    std::shared_ptr<CallNumbers> numbers_;
    std::vector<std::unique_ptr<WorkerPart>> worker_parts_;
    PeerWatch watch_;
    /// Then a group is polled even if nothing seems to have come.
    static constexpr std::uint32_t calls_unheard = 8;
    std::uint32_t begun_here_ = 0;  ///< by who has the turn
    std::atomic<bool> settled_{false};
    mutable std::atomic<bool> asked_{false};
};

}  // namespace trefoil
