// SPDX-License-Identifier: BSD-3-Clause
// The executor's face: its parts are put together, and a call is given to the port threads.
#include "threads/executor/executor.hpp"

#include <new>

#include "threads/executor/inquiry.hpp"

namespace trefoil {

Executor::Executor(Channels& channels, PortThreads& port_threads, ExecutorOptions options)
    : port_threads_(port_threads),
      parts_(channels, std::move(options)),
      greeting_(channels, parts_.controls, parts_.failure, parts_.options, listen_to_group()),
      watch_(channels, parts_.queue, greeting_, parts_.controls, parts_.failure, parts_.options) {
    for (std::size_t i = 0; i < channels.groups.size(); ++i) {
        const bool in_caller = i == 0 && port_threads.caller_works();
        workers_.push_back(std::make_unique<Worker>(static_cast<int>(i), in_caller, parts_));
    }
}

Listen Executor::listen_to_group() {
    return [this](std::size_t group) { return workers_[group]->listen(); };
}

void Executor::reserve(const Program& program) {
    for (RunningSegment& segment : parts_.queue.places()) {
        segment.reserve(program, parts_.channels);
    }
    for (const auto& worker : workers_) {
        worker->reserve(program);
    }
}

std::size_t Executor::staging_bytes() const {
    std::size_t bytes = 0;
    for (const RunningSegment& segment : parts_.queue.places()) {
        bytes += segment.staging().bytes();
    }
    return bytes;
}

namespace {

bool reads_peers(const Call& call) {
    return !call.segments.empty() && !call.segments.front().program->peers.empty();
}

}  // namespace

Status Executor::run(const Call& call) noexcept {
    Failure& failure = parts_.failure;
    if (failure.happened()) {
        return failure.status();
    }
    call_.begin(call, ++calls_);
    watch_.begin_call(call_);
    if (reads_peers(call)) {
        parts_.reads.open(call_.hash());
    }
    // What is written here the workers see, and what they write is seen afterwards.
    auto work = [this](int worker) { workers_[worker]->run(call_, watch_); };
    if (!port_threads_.run(work, parts_.options.progress)) {
        failure.set(
            Status::system_error,
            "the OpenMP runtime grants fewer threads than the " +
                std::to_string(port_threads_.workers()) +
                " that drive the ports since this communicator was made; keep OMP_DYNAMIC off and "
                "the thread limit as it was, or choose TREFOIL_PORT_THREADS_BY=dedicated");
    }
    if (failure.happened()) {
        report_failure(call.text);
    }
    return failure.status();
}

void Executor::report_failure(const std::string& during) noexcept {
    Failure& failure = parts_.failure;
    reported_ = true;
    try {
        const Inquiry inquiry(parts_.channels, parts_.controls, parts_.options, listen_to_group());
        Cause cause = failure.cause();
        if (cause.tentative) {
            cause = inquiry.cause_of(cause, during);
            failure.replace(cause);
        }
        const auto say = [&](std::size_t channel) {
            return parts_.controls.say_failure(channel, cause);
        };
        tell_peers(parts_.channels, listen_to_group(), say, inquiry.gone());
    } catch (const std::bad_alloc&) {  // then peers find out by themselves
    }
    end_groups();
}

/// All at the same time, so that it takes `longest_drain` and not that for each.
void Executor::end_groups() noexcept {
    parts_.reads.withdraw();
    if (parts_.channels.groups.empty()) {
        return;  // one rank alone
    }
    auto end = [this](int worker) { parts_.channels.groups[worker]->abandon(longest_drain); };
    if (!port_threads_.run(end)) {
        for (int worker = 0; worker < port_threads_.workers(); ++worker) {
            end(worker);
        }
    }
}

Cause Executor::cause_of(const Error& error, const std::string& found_here) {
    if (reported_) {
        return parts_.failure.cause();
    }
    const Inquiry inquiry(parts_.channels, parts_.controls, parts_.options, listen_to_group());
    return inquiry.cause_of(error, found_here);  // what the greeting noticed is in the error, too
}

void Executor::give_up(const Cause& cause) noexcept {
    if (!reported_) {
        parts_.failure.replace(cause);
        report_failure("");
    }
}

void Executor::leave() noexcept {
    if (!parts_.failure.happened()) {
        const auto say = [this](std::size_t channel) {
            return parts_.controls.say(channel, Control::leaving);
        };
        tell_peers(parts_.channels, listen_to_group(), say, {});
    }
}

}  // namespace trefoil
