// SPDX-License-Identifier: BSD-3-Clause
// From issued calls to segments, and from a group's events to their steps.
#include "threads/executor/worker_part.hpp"

#include <new>

#include "threads/executor/put_cookie.hpp"

namespace trefoil {

namespace {

TraceRing* ring_of(const ExecutorOptions& options, std::size_t worker) {
    return options.trace == nullptr ? nullptr : &options.trace->ring(worker);
}

/// Room is made while calls run, when they are the first of their size.
template <typename Make>
bool made_room(Failure& failure, Make&& make) noexcept {
    try {
        make();
        return true;
    } catch (const std::bad_alloc&) {
        failure.set(Cause{Status::out_of_memory});
    } catch (const Error& error) {
        failure.set(error.status(), error.what());
    }
    return false;
}

}  // namespace

WorkerPart::WorkerPart(std::size_t worker, ExecutorParts& parts)
    : number_(worker),
      parts_(parts),
      group_(parts.channels.groups[worker].get()),
      notes_(ring_of(parts.options, worker)),
      poster_(static_cast<int>(worker), parts.channels, parts.queue, parts.steps, parts.failure,
              notes_),
      arrivals_(worker, parts.channels, parts.queue, parts.steps, parts.controls, parts.failure,
                notes_) {}

bool WorkerPart::advance() noexcept {
    bool progressed = number_ == 0 && start_segments();
    progressed |= adopt_segments();
    progressed |= poster_.post_ready();
    return progressed;
}

/// Calls start in the order in which they were issued, and so do their segments.
bool WorkerPart::start_segments() noexcept {
    bool started = false;
    while (parts_.queue.has_room()) {
        RunningCall* const call = parts_.calls.first();
        if (call == nullptr || !start_next(*call)) {
            break;
        }
        started = true;
    }
    return started;
}

bool WorkerPart::start_next(RunningCall& call) noexcept {
    if (call.reads_peers() && !call.has_started()) {
        // A guard lets peers read the vectors of one call: the others wait for it, on all ranks.
        if (parts_.in_flight.reads()) {
            return false;
        }
        parts_.in_flight.begin_reads();
        parts_.reads.open(call.hash());
    }
    SegmentQueue& queue = parts_.queue;
    RunningSegment& segment = queue.next();
    const std::size_t workers = parts_.channels.groups.size();
    if (!made_room(parts_.failure, [&] { segment.make_room(parts_.room, workers); })) {
        return false;
    }
    segment.start(call, call.next_piece(), queue.next_number(), parts_.channels,
                  static_cast<std::uint32_t>(workers), notes_.clock());
    if (!call.has_more()) {
        parts_.calls.pop();  // before it may be complete
    }
    parts_.steps.begin(queue, notes_);
    return true;
}

bool WorkerPart::adopt_segments() noexcept {
    bool adopted = false;
    while (adopted_ < parts_.queue.published()) {
        RunningSegment& segment = parts_.queue.at(adopted_);
        if (!made_room(parts_.failure, [&] {
                arrivals_.make_room(parts_.room);
                poster_.make_room(parts_.room, segment);
            })) {
            break;
        }
        ++adopted_;
        arrivals_.adopt(segment);
        poster_.adopt(segment);
        adopted = true;
    }
    return adopted;
}

bool WorkerPart::sent(std::uint64_t bits) noexcept {
    const PutCookie cookie(bits);
    if (cookie.is_control()) {
        parts_.controls.sent(cookie);
        return false;
    }
    parts_.steps.spend_token(parts_.queue.at(cookie.place()), cookie.step(), notes_);
    return true;
}

void WorkerPart::sent_between_calls(std::uint64_t bits) noexcept {
    if (PutCookie(bits).is_control()) {
        parts_.controls.sent(PutCookie(bits));
    }
}

void WorkerPart::transport_failed(std::uint64_t bits) noexcept {
    const PutCookie cookie(bits);
    if (!cookie.is_put()) {
        parts_.failure.suspect(Status::peer_lost, Cause::nobody, group_->error_text());
        return;
    }
    const OutChannel& channel = parts_.channels.out[cookie.channel()];
    if (cookie.is_control()) {
        parts_.controls.sent(cookie);
    }
    parts_.failure.suspect(Status::peer_lost, channel.peer,
                           "a message failed from " + route_text(parts_.channels, channel) + ": " +
                               group_->error_text());
}

void WorkerPart::end_work() noexcept {
    notes_.goes_on();
    const std::uint64_t completed = parts_.in_flight.completed() - completed_before_;
    notes_.call(completed == 1 ? parts_.in_flight.last_text() : "calls in flight", begun_);
}

void WorkerPart::pass_failure_on() noexcept {
    if (parts_.controls.reports().failure_has_come()) {
        parts_.controls.pass_failure_on(number_);
    }
}

}  // namespace trefoil
