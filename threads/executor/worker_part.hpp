// SPDX-License-Identifier: BSD-3-Clause
// One worker's part in the calls of one executor.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "threads/connections/links.hpp"
#include "threads/executor/arrivals.hpp"
#include "threads/executor/executor_parts.hpp"
#include "threads/executor/peer_watch.hpp"
#include "threads/executor/poster.hpp"
#include "threads/executor/put_cookie.hpp"
#include "threads/executor/timeline_notes.hpp"
#include "topo/cache_line.hpp"

namespace trefoil {

class Engine;

/// What concerns one group: posts its puts, takes its messages, and completes the steps whose last
/// event it counts. That of worker 0 also starts segments. Used by the group's owner.
class alignas(cache_line) WorkerPart {
  public:
    /// `links`: of the group. `executor`: what cookies call it.
    WorkerPart(std::size_t worker, std::uint32_t executor, Links& links, ExecutorParts& parts);

    /// Does once all that can be done now; false: nothing could.
    bool advance() noexcept;
    /// A call of stores that is in no queue begins, and does what can be done at once. False: it is
    /// to be in the queue. By worker 0, as what follows.
    bool begin_here(RunningCall& call) noexcept {
        if (has_new_channels() || failed() || notes_.on() ||
            !parts_.stored.begin_here(call, notes_)) {
            return false;
        }
        count_move();
        return true;
    }
    /// A call of stores may be done before anybody else has to be looked at: does what can be done
    /// at once and, if it `waits`, within a moment, or within some turns of the core as long as
    /// nobody else needs the engine. By worker 0, which has its turn.
    enum class Waits : std::uint8_t { no, yes, spinning };
    void try_at_once(const RunningCall& call, Waits waits, const Engine& engine) noexcept;
    /// It has failed: nothing new is to begin.
    bool failed() const noexcept { return parts_.failure.happened(); }

    /// What a call of stores waits for has come. By worker 0.
    bool flag_has_come() const noexcept { return number_ == 0 && parts_.stored.may_go_on(); }
    /// A notification of an incoming channel has come at the group. True: a call may go on by it.
    bool arrive(std::uint64_t notification, std::uint32_t in_channel) noexcept {
        return !failed() && arrivals_.arrive(notification, in_channel);
    }
    /// A put has left, or has failed. True: a call may go on by it.
    bool sent(const PutCookie& cookie) noexcept;
    void put_failed(const PutCookie& cookie) noexcept;
    /// The group is in disorder, and it is not known which put of whom.
    void group_failed() noexcept;
    /// Puts whose sources may still be read.
    std::uint32_t leaving() const { return poster_.leaving(); }

    // What the group's links tell.
    void wired(Wire& wire) noexcept;
    void peer_left(const ChannelKey& key) noexcept;
    /// Calls fail at once where a rank has aborted; other failures may be of later calls.
    void take_letter(Rank from_first, std::string_view letter) noexcept;
    /// About persistent calls, through the own port.
    void take_direct_letter(Rank from_first, Port own, std::string_view letter) noexcept;
    void broken(const BrokenConnection& connection) noexcept;

    /// Its calls may have gone on, by this worker. By its owner; worker 0 reads the number.
    void count_move() noexcept {
        moves_.store(moves_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    std::uint64_t moves() const noexcept { return moves_.load(std::memory_order_relaxed); }

    /// The worker looks after it: see Worker::take_new_work().
    std::atomic<bool> listed{false};
    std::uint32_t number() const { return executor_; }  ///< of the executor
    WorkerPart* next_new = nullptr;  ///< by whoever has set `listed`, until the worker takes it

    /// The group did not accept a put.
    bool refused() const { return poster_.refused(); }
    /// Reports of failure that came are passed on, whatever this rank's calls still do.
    void pass_failure_on() noexcept;
    TimelineNotes& notes() { return notes_; }
    /// For the timeline: calls that were completed since it was asked last, and the last one's
    /// text.
    std::uint64_t count_completed() noexcept {
        const std::uint64_t before = completed_;
        completed_ = parts_.in_flight.completed();
        return completed_ - before;
    }
    const char* last_text() const noexcept { return parts_.in_flight.last_text(); }

  private:
    bool start_segments() noexcept;
    bool start_next(RunningCall& call) noexcept;
    /// Of those that any plan has asked for so far: most calls find it so.
    bool all_channels_are_there() noexcept {
        return (landed_ == parts_.channels.in.size() && connected_ == parts_.channels.out.size()) ||
               count_channels();
    }
    bool count_channels() noexcept;
    bool adopt_segments() noexcept;
    bool has_new_channels() const noexcept {
        return opened_out_ != parts_.channels.out.size() || opened_in_ != parts_.channels.in.size();
    }
    void open_new_channels() noexcept;
    void connect(std::uint32_t out);
    void not_connected(Rank peer, Status status, const char* text) noexcept;
    void not_connected(Rank peer, const BrokenConnection& connection) noexcept;
    std::uint32_t landing_slots(const RingShape& shape) const;
    static void place_end(StoringEnd& end, std::byte* memory, const RingShape& shape);
    void land(std::uint32_t in);
    void set_wire(std::uint32_t out, Wire& wire) noexcept;
    void hear_abort() noexcept;

    const std::size_t number_;
    const std::uint32_t executor_;
    std::atomic<std::uint64_t> moves_{0};
    ExecutorParts& parts_;
    PortGroup* const group_;
    Links& links_;
    TimelineNotes notes_;
    Poster poster_;
    Arrivals arrivals_;
    std::uint64_t adopted_ = 0;                         ///< segments, running number
    std::size_t opened_out_ = 0, opened_in_ = 0;        ///< channels that it has looked at
    std::array<std::uint64_t, segment_window> room_{};  ///< made for which RoomNeeded::version()
    std::size_t connected_ = 0, landed_ = 0;            ///< worker 0: all before these are there
    std::uint64_t completed_ = 0;
};

}  // namespace trefoil
