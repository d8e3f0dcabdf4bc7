// SPDX-License-Identifier: BSD-3-Clause
// The worker's loop.
#include "threads/executor/worker.hpp"

#include <algorithm>

#include "threads/executor/put_cookie.hpp"

namespace trefoil {

namespace {

/// How often a worker that naps looks for trouble.
constexpr std::chrono::milliseconds check_interval{250};
/// Of so many polls in vain, one is followed by the caller's progress, which costs about as much.
constexpr std::uint32_t polls_per_progress = 8;

TraceRing* ring_of(const ExecutorOptions& options, int worker) {
    return options.trace == nullptr ? nullptr
                                    : &options.trace->ring(static_cast<std::size_t>(worker));
}

}  // namespace

Worker::Worker(int number, bool in_caller, ExecutorParts& parts)
    : number_(static_cast<std::size_t>(number)),
      in_caller_(in_caller),
      parts_(parts),
      group_(parts.channels.groups[number_].get()),
      notes_(ring_of(parts.options, number)),
      poster_(number, parts.channels, parts.queue, parts.steps, parts.failure, notes_),
      arrivals_(number_, parts.channels, parts.queue, parts.steps, parts.controls, parts.failure,
                notes_),
      waiting_(parts.options.may_spin) {}

void Worker::reserve(const Program& program) {
    poster_.reserve(program.parts.size());
    arrivals_.reserve(program);
}

void Worker::run(RunningCall& call, PeerWatch& watch) noexcept {
    waiting_.reset();
    is_idle_ = false;
    const std::int64_t begin = notes_.clock();
    work(call, watch);
    if (notes_.on()) {
        notes_.goes_on();
        notes_.call(call.call().text, begin);
    }
}

void Worker::work(RunningCall& call, PeerWatch& watch) noexcept {
    while (true) {
        const bool progressed = advance(call);
        if (call.done() || parts_.failure.happened()) {
            return;
        }
        if (progressed) {
            waiting_.reset();
            is_idle_ = false;
            if (notes_.on()) {
                notes_.goes_on();
            }
        } else if (!idle(watch)) {
            return;
        }
    }
}

bool Worker::advance(RunningCall& call) noexcept {
    changes_seen_ = parts_.wake_up.changes();
    bool progressed = number_ == 0 && start_segments(call);
    progressed |= adopt_segments();
    progressed |= poster_.post_ready();
    progressed |= poll();
    return progressed;
}

bool Worker::start_segments(RunningCall& call) noexcept {
    bool started = false;
    SegmentQueue& queue = parts_.queue;
    while (call.has_more() && queue.has_room()) {
        const auto workers = static_cast<std::uint32_t>(parts_.channels.groups.size());
        queue.next().start(call, call.next_piece(), queue.next_number(), parts_.channels, workers,
                           notes_.clock());
        parts_.steps.begin(queue, notes_);
        started = true;
    }
    return started;
}

bool Worker::adopt_segments() noexcept {
    bool adopted = false;
    while (adopted_ < parts_.queue.published()) {
        RunningSegment& segment = parts_.queue.at(adopted_++);
        arrivals_.adopt(segment);
        poster_.adopt(segment);
        adopted = true;
    }
    return adopted;
}

bool Worker::poll() noexcept {
    const std::size_t count = group_->poll(events_);
    bool progressed = false;
    for (std::size_t i = 0; i < count; ++i) {
        const Event& event = events_[i];
        switch (event.kind) {
            case Event::Kind::sent: {
                const PutCookie cookie(event.cookie);
                if (cookie.is_control()) {
                    parts_.controls.sent(cookie);
                } else {
                    progressed = true;
                    parts_.steps.spend_token(parts_.queue.at(cookie.place()), cookie.step(),
                                             notes_);
                }
                break;
            }
            case Event::Kind::arrived:
                progressed |= arrivals_.arrive(event.notification);
                break;
            case Event::Kind::failed:
                transport_failed(event.cookie);
                break;
        }
    }
    return progressed;
}

bool Worker::listen() noexcept {
    const std::size_t count = group_->poll(events_);
    for (std::size_t i = 0; i < count; ++i) {
        const Event& event = events_[i];
        switch (event.kind) {
            case Event::Kind::sent:
                if (PutCookie(event.cookie).is_control()) {
                    parts_.controls.sent(PutCookie(event.cookie));
                }
                break;
            case Event::Kind::arrived:
                arrivals_.keep(event.notification);
                break;
            case Event::Kind::failed:
                transport_failed(event.cookie);
                break;
        }
    }
    return count > 0;
}

void Worker::transport_failed(std::uint64_t bits) noexcept {
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

bool Worker::idle(PeerWatch& watch) {
    const std::int64_t begin = notes_.clock();
    const bool goes_on = wait(watch);
    if (notes_.on()) {
        notes_.waits(begin);
    }
    return goes_on;
}

bool Worker::wait(PeerWatch& watch) {
    std::chrono::microseconds length = waiting_.idle();
    const Progress& progress = parts_.options.progress;
    if (in_caller_ && progress) {
        length = std::min(length, longest_sleep_with_progress);
        if (length.count() > 0 || ++vain_polls_ % polls_per_progress == 0) {
            progress();
        }
    }
    if (length.count() == 0) {
        return true;
    }
    const auto now = std::chrono::steady_clock::now();
    if (!is_idle_) {
        is_idle_ = true;
        idle_since_ = now;
        next_check_ = now + check_interval;
        if (number_ == 0) {
            watch.begin_wait();
        }
    }
    if (parts_.controls.reports().failure_has_come()) {
        parts_.controls.pass_failure_on(number_);
    }
    if (now >= next_check_) {
        const bool goes_on = number_ != 0 || watch.look(now - idle_since_);
        next_check_ = std::chrono::steady_clock::now() + check_interval;
        if (!goes_on) {
            return false;
        }
        watch.report(number_);
    }
    parts_.wake_up.sleep(number_, changes_seen_,
                         poster_.refused() ? std::min(length, busy_sleep) : length);
    return true;
}

}  // namespace trefoil
