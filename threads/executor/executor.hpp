// SPDX-License-Identifier: BSD-3-Clause
// The executor: port threads run programs over the channels, segment after segment.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "threads/executor/call.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/executor_options.hpp"
#include "threads/executor/executor_parts.hpp"
#include "threads/executor/peer_watch.hpp"
#include "threads/executor/running_call.hpp"
#include "threads/executor/worker.hpp"
#include "threads/workers/port_threads.hpp"
#include "topo/error.hpp"

namespace trefoil {

/// Runs calls, one after the other. channel_uses.hpp says why a channel's landing slots can be
/// reused meanwhile.
///
/// Thread-safety: one run() or greet() at a time; both from any thread.
class Executor {
  public:
    static constexpr std::uint32_t window = segment_window;
    static constexpr std::uint32_t landing_slots = trefoil::landing_slots;

    /// `channels` has one group per worker of `port_threads`. Both outlive the executor.
    Executor(Channels& channels, PortThreads& port_threads, ExecutorOptions options);

    /// Makes room for `program`, so that run() does not allocate. May throw bad_alloc.
    void reserve(const Program& program);

    /// Tells the peers that this rank sets up channels, as all must now: one that waits for a
    /// message instead makes another call, and can say so. Before each greet().
    void announce_connecting() noexcept { greeting_.announce(); }

    /// Verifies the new channels: sends hello on the outgoing ones from `first_out` on and waits
    /// until the incoming ones from `first_in` on have been greeted. Throws Error(timeout) after
    /// ExecutorOptions::greeting_timeout, or Error(peer_lost) when the transport refuses; both name
    /// rank, host, port and NIC of either end.
    void greet(std::size_t first_out, std::size_t first_in) {
        begin_greeting(first_out, first_in);
        greet_for(parts_.options.greeting_timeout * 2);
    }
    /// The same in pieces, so that ranks can tell each other in between how they fare: greet_for()
    /// returns whether the greeting is complete. Not to be called again when it is, or has thrown.
    void begin_greeting(std::size_t first_out, std::size_t first_in) {
        greeting_.begin(first_out, first_in);
    }
    bool greet_for(std::chrono::milliseconds patience) { return greeting_.greet_for(patience); }
    /// What has not been greeted yet, with both ends of each; "" when nothing is missing.
    std::string ungreeted_text() const { return greeting_.ungreeted_text(); }

    /// Runs the call on all ports; returns when the result is complete and the input may be reused.
    /// On failure tells the peers and ends the port groups, so that nobody uses the caller's
    /// buffers any more; failure() says what happened. Only leave() and destruction may follow.
    Status run(const Call& call) noexcept;
    /// A call in which nothing moves. It has a number as all calls: a rank that alone has nothing
    /// to do does not take its next call for the others' present one.
    void count_empty_call() noexcept { ++calls_; }

    /// The reason for an error, if it is known elsewhere; after a failed run() that one's. Between
    /// calls. `found_here` as in Inquiry. Throws bad_alloc.
    Cause cause_of(const Error& error, const std::string& found_here = {});
    /// This rank cannot make its next call, for a reason that lies outside: the peers are told, the
    /// port groups end, and every later run() fails. After a failed run(), which has done all that,
    /// nothing happens.
    void give_up(const Cause& cause) noexcept;

    /// Tells the peers that this rank goes away. Best effort, bounded.
    void leave() noexcept;

    std::string failure() const { return parts_.failure.text(); }

    /// Of the buffers that outgoing messages are gathered in. Not while a call runs.
    std::size_t staging_bytes() const;

  private:
    Listen listen_to_group();
    void report_failure(const std::string& during) noexcept;
    void end_groups() noexcept;

    PortThreads& port_threads_;
    ExecutorParts parts_;
    std::vector<std::unique_ptr<Worker>> workers_;
    Greeting greeting_;
    PeerWatch watch_;
    /// The call that runs. That there is one at a time is assumed here alone: segments know the
    /// call that they belong to, workers and the watch are told which one to bring to its end.
    RunningCall call_;
    std::uint64_t calls_ = 0;  ///< made so far
    bool reported_ = false;    ///< the failure, to the peers
};

}  // namespace trefoil
