// SPDX-License-Identifier: BSD-3-Clause
// The worker's round, and its waits.
#include "threads/executor/worker.hpp"

#include <algorithm>

#include "threads/executor/executor.hpp"

namespace trefoil {

namespace {

using Clock = std::chrono::steady_clock;
/// How often a worker that naps looks for trouble.
constexpr std::chrono::milliseconds check_interval{250};
/// Who tests for a call only now and then does not wait for it meanwhile.
constexpr std::chrono::milliseconds longest_gap{2000};
/// Of so many polls in vain, one is followed by the caller's progress, which costs about as much.
constexpr std::uint32_t polls_per_progress = 8;

}  // namespace

Worker::Worker(std::size_t number, bool in_caller, Engine& engine)
    : number_(number),
      in_caller_(in_caller),
      engine_(engine),
      group_(engine.groups()[number].get()),
      waiting_(engine.may_spin()) {}

void Worker::add(Executor& executor) {
    parts_.push_back({&executor, &executor.part(number_)});
    is_traced_ |= parts_.back().part->notes().on();
}

void Worker::remove(Executor& executor) noexcept {
    std::erase_if(parts_, [&](const Part& part) { return part.executor == &executor; });
}

void Worker::note_begin() noexcept {
    for (const Part& part : parts_) {
        if (part.part->notes().on()) {
            part.part->begin_work();
        }
    }
}

void Worker::note_end() noexcept {
    for (const Part& part : parts_) {
        if (part.part->notes().on()) {
            part.part->end_work();
        }
    }
}

bool Worker::advance() noexcept {
    changes_seen_ = engine_.wake_up().changes();
    bool progressed = false;
    for (const Part& part : parts_) {
        if (!part.part->failed()) {
            progressed |= part.part->advance();
        } else if (!part.executor->settled()) {
            trouble_ = true;
        }
    }
    progressed |= poll();
    return progressed;
}

bool Worker::poll() noexcept {
    const std::size_t count = group_->poll(events_);
    bool progressed = false;
    for (std::size_t i = 0; i < count && !parts_.empty(); ++i) {
        const Event& event = events_[i];
        WorkerPart& part = *parts_.front().part;
        switch (event.kind) {
            case Event::Kind::sent:
                progressed |= part.sent(event.cookie);
                break;
            case Event::Kind::arrived:
                progressed |= part.arrive(event.notification);
                break;
            case Event::Kind::failed:
                part.transport_failed(event.cookie);
                break;
        }
    }
    return progressed;
}

bool Worker::listen() noexcept {
    const std::size_t count = group_->poll(events_);
    for (std::size_t i = 0; i < count && !parts_.empty(); ++i) {
        const Event& event = events_[i];
        WorkerPart& part = *parts_.front().part;
        switch (event.kind) {
            case Event::Kind::sent:
                part.sent_between_calls(event.cookie);
                break;
            case Event::Kind::arrived:
                part.keep(event.notification);
                break;
            case Event::Kind::failed:
                part.transport_failed(event.cookie);
                break;
        }
    }
    return count > 0;
}

bool Worker::round(bool& trouble) noexcept {
    begin_work();
    const bool progressed = advance();
    trouble |= std::exchange(trouble_, false);
    if (progressed) {
        end_work();
    }
    if (progressed) {
        is_idle_ = false;
    } else {
        look_after_calls(Clock::now());
    }
    return progressed;
}

void Worker::goes_on() noexcept {
    waiting_.reset();
    is_idle_ = false;
    was_idle_ = false;
    if (is_traced_) {
        for (const Part& part : parts_) {
            part.part->notes().goes_on();
        }
    }
}

void Worker::idle() noexcept {
    was_idle_ = true;
    TimelineNotes* const notes = parts_.empty() ? nullptr : &parts_.front().part->notes();
    const bool noted = notes != nullptr && notes->on();
    const std::int64_t begin = noted ? notes->clock() : 0;
    wait();
    if (noted) {
        notes->waits(begin);
    }
}

void Worker::wait() noexcept {
    std::chrono::microseconds length = waiting_.idle();
    const Progress progress = engine_.progress();
    if (in_caller_ && progress) {
        length = std::min(length, longest_sleep_with_progress);
        if (length.count() > 0 || ++vain_polls_ % polls_per_progress == 0) {
            progress();
        }
    }
    if (length.count() == 0) {
        return;
    }
    look_after_calls(Clock::now());
    engine_.wake_up().sleep(number_, changes_seen_,
                            refused() ? std::min(length, busy_sleep) : length);
}

/// How long nothing has happened counts only while somebody waits for it.
void Worker::look_after_calls(Clock::time_point now) noexcept {
    if (!is_idle_ || !engine_.is_waited_for() || now - looked_ > longest_gap) {
        is_idle_ = true;
        idle_since_ = now;
        next_check_ = now + check_interval;
        for (const Part& part : parts_) {
            if (number_ == 0) {
                part.executor->watch().begin_wait();
            }
        }
    }
    looked_ = now;
    for (const Part& part : parts_) {
        part.part->pass_failure_on();
    }
    if (now < next_check_) {
        return;
    }
    for (const Part& part : parts_) {
        if (part.part->failed()) {
            continue;
        }
        if (number_ != 0 || part.executor->watch().look(now - idle_since_)) {
            part.executor->watch().report(number_);
        }
    }
    next_check_ = Clock::now() + check_interval;
}

bool Worker::refused() const noexcept {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const Part& part) { return part.part->refused(); });
}

}  // namespace trefoil
