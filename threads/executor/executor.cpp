// SPDX-License-Identifier: BSD-3-Clause
// The executor's face: its parts are put together, calls are issued, and failures settled.
#include "threads/executor/executor.hpp"

#include <new>

#include "backend/ports/powers.hpp"
#include "threads/executor/inquiry.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {
constexpr int abort_looks = 100;
/// After a failure ranks may outnumber cores, and others are to do their part.
constexpr std::chrono::microseconds inquiry_nap{2000};
constexpr std::chrono::microseconds leaving_nap{100};
}  // namespace

Executor::Executor(Channels& channels, Engine& engine, ExecutorOptions options)
    : engine_(engine),
      parts_(channels, engine, std::move(options)),
      numbers_(parts_.options.numbers != nullptr ? parts_.options.numbers
                                                 : std::make_shared<CallNumbers>()),
      watch_(channels, parts_.calls, parts_.queue, parts_.stored, parts_.steps, parts_.controls,
             parts_.failure, parts_.options) {
    const Engine::Exclusive held(engine_);
    if (engine_.groups_are_gone()) {
        throw Error(
            Status::peer_lost,
            "the ports of this rank have ended, as another communicator that shares them has "
            "failed");
    }
    number_ = engine_.next_number(held);
    for (std::size_t i = 0; i < channels.groups.size(); ++i) {
        worker_parts_.push_back(std::make_unique<WorkerPart>(i, number_, engine_.links(i), parts_));
    }
    engine_.attach(*this, held);
}

Executor::~Executor() {
    const Engine::Exclusive held(engine_);
    parts_.direct.end_all();
    engine_.detach(*this, held);
}

ListenUntil Executor::listen_until() {
    return [this](const std::function<bool()>& over, std::chrono::steady_clock::time_point until) {
        return engine_.listen_until(over, until, inquiry_nap);
    };
}

void Executor::reserve(const Program& program) {
    parts_.room.include(program, parts_.channels.in.size(), parts_.channels.out.size());
}

std::size_t Executor::staging_bytes() const {
    std::size_t bytes = 0;
    for (const RunningSegment& segment : parts_.queue.places()) {
        bytes += segment.staging().bytes();
    }
    return bytes;
}

void Executor::issue(RunningCall& running, const Call& call, const CallVectors& vectors) noexcept {
    running.begin(call, vectors, numbers_->next());
    parts_.in_flight.issue();
    parts_.calls.push(running);
    engine_.enlist(*this);
    engine_.issued();
    if (parts_.channels.rings.are_stored()) {
        engine_.in_turn(
            [&] { worker_parts_.front()->try_at_once(running, WorkerPart::Waits::no, engine_); });
    }
    give_up_if_late();
}

/// Another thread may have ended the communicator since this one looked.
void Executor::give_up_if_late() noexcept {
    if (settled()) {
        parts_.in_flight.give_up();
    }
}

/// Here and now: without a call in flight no worker would do it.
void Executor::await_settlement() noexcept {
    if (!settled()) {
        const Engine::Exclusive held(engine_);
        engine_.settle_failures(held);
    }
}

Status Executor::run(const Call& call, const std::byte* input, std::byte* output,
                     DirectCall* direct) noexcept {
    if (parts_.failure.happened()) {
        await_settlement();
        return parts_.failure.status();
    }
    if (call.segments.empty()) {
        count_empty_call();
        return Status::success;
    }
    RunningCall running;
    running.begin(call, {input, output, direct}, numbers_->next());
    engine_.issue_and_drive(
        *this,
        [&](bool here) {
            if (here) {
                parts_.in_flight.issue_here();
                if (!parts_.in_flight.is_shared()) {
                    running.stay_alone();
                }
                if (!begin_here(running)) {
                    parts_.calls.push_here(running);
                }
                if (running.done()) {
                    return;
                }
                engine_.enlist(*this);
                if (parts_.channels.rings.are_stored()) {
                    worker_parts_.front()->try_at_once(
                        running,
                        engine_.may_spin() ? WorkerPart::Waits::spinning : WorkerPart::Waits::yes,
                        engine_);
                }
            } else {
                parts_.in_flight.issue();
                parts_.calls.push(running);
                engine_.enlist(*this);
                engine_.issued();
            }
        },
        [&] { running.share(); }, [&] { return is_over(running); });
    give_up_if_late();
    return status_of(running);
}

/// What peers have said is heard first: one may have aborted, or ask for an answer, and a call that
/// waits for nobody would never hear it.
bool Executor::begin_here(RunningCall& running) noexcept {
    if (!parts_.channels.rings.are_stored()) {
        return false;
    }
    if (parts_.channels.groups.front()->storing()->may_have_arrivals() ||
        ++begun_here_ % calls_unheard == 0) {
        (void)engine_.listen(0);
    }
    return worker_parts_.front()->begin_here(running);
}

std::uint64_t Executor::moves() const noexcept {
    std::uint64_t all = 0;
    for (const auto& part : worker_parts_) {
        all += part->moves();
    }
    return all;
}

void Executor::threads_refused(int wanted) noexcept {
    parts_.failure.set_own(
        Status::system_error,
        "the OpenMP runtime grants fewer threads than the " + std::to_string(wanted) +
            " that drive the ports since this communicator was made; keep OMP_DYNAMIC off and the "
            "thread limit as it was, or choose TREFOIL_PORT_THREADS_BY=dedicated");
}

void Executor::settle() noexcept {
    if (!parts_.failure.happened() || settled()) {
        return;
    }
    report_failure();
    if (parts_.options.failed) {
        parts_.options.failed(parts_.failure.cause());
    }
    settled_.store(true, std::memory_order_seq_cst);
    parts_.in_flight.give_up();
}

void Executor::fall_with(const Cause& cause) noexcept {
    if (settled()) {
        return;
    }
    parts_.failure.set(cause);
    for (std::size_t g = 0; g < parts_.channels.groups.size(); ++g) {
        parts_.controls.say_failure(g, cause, {});
    }
    parts_.reads.withdraw();
    settled_.store(true, std::memory_order_seq_cst);
    parts_.in_flight.give_up();
}

/// In words; "" if none is in flight.
std::string Executor::oldest_call() const {
    const RunningSegment* oldest = nullptr;
    for (const RunningSegment& segment : parts_.queue.places()) {
        if (segment.running() && (oldest == nullptr || segment.number() < oldest->number())) {
            oldest = &segment;
        }
    }
    const RunningCall* const call = oldest != nullptr ? &oldest->call() : parts_.stored.running();
    return call == nullptr ? std::string() : call->call().text;
}

void Executor::report_failure() noexcept {
    Failure& failure = parts_.failure;
    try {
        const Inquiry inquiry(parts_.channels, parts_.controls, parts_.options, listen_until());
        Cause cause = failure.cause();
        const bool aborted = cause.status == Status::aborted;
        if (cause.tentative && !aborted) {
            cause = inquiry.cause_of(cause, oldest_call());
            failure.replace(cause);
        }
        const std::vector<Rank> gone = inquiry.gone();
        if (cause.tentative && aborted) {
            cause = first_of_aborts(std::move(cause), gone);
            failure.replace(cause);
        }
        for (std::size_t g = 0; g < parts_.channels.groups.size(); ++g) {
            parts_.controls.say_failure(g, cause, gone);
        }
        engine_.drain(patience().longest_failure_report);
    } catch (const std::bad_alloc&) {  // then peers find out by themselves
    }
    parts_.reads.withdraw();
    let_go_of_buffers();
}

/// Passes on that a rank has aborted, then listens for a moment whether another one has, too.
Cause Executor::first_of_aborts(Cause cause, std::span<const Rank> gone) noexcept {
    using Clock = std::chrono::steady_clock;
    cause.tentative = false;
    const auto say = [&] {
        for (std::size_t g = 0; g < parts_.channels.groups.size(); ++g) {
            parts_.controls.say_failure(g, cause, gone);
        }
    };
    if (engine_.groups_are_gone()) {
        return cause;
    }
    say();
    const auto begin = Clock::now();
    int looks = 0;
    (void)engine_.listen_until(
        [&] {
            const auto heard = parts_.controls.reports().failure();
            if (heard && precedes(heard->cause, cause)) {
                cause = heard->cause;
                parts_.controls.tell_anew();
                say();
            }
            return ++looks >= abort_looks && Clock::now() - begin >= patience().abort_grace;
        },
        begin + patience().longest_abort_grace, inquiry_nap);
    return cause;
}

/// Nothing of the failed calls reads or writes the caller's buffers any more. The puts that are
/// under way are waited for, as other communicators use the groups, too; what does not leave in
/// time ends the groups for all.
void Executor::let_go_of_buffers() noexcept {
    const auto leaving = [this] {
        std::uint32_t puts = 0;
        for (const auto& part : worker_parts_) {
            puts += part->leaving();
        }
        return puts;
    };
    if (leaving() > 0) {
        (void)engine_.listen_until([&] { return leaving() == 0; },
                                   std::chrono::steady_clock::now() + patience().longest_drain,
                                   leaving_nap);
    }
    // Nor do peers put anything into them.
    const bool may_land = parts_.direct.close_open_calls(parts_.options.close_registration);
    if (leaving() > 0 || may_land) {
        engine_.fail_all_but(*this, parts_.failure.cause());
        engine_.abandon_groups();
    }
}

Cause Executor::cause_of(const Error& error) {
    if (settled()) {
        return parts_.failure.cause();
    }
    const Engine::Exclusive held(engine_);
    const Inquiry inquiry(parts_.channels, parts_.controls, parts_.options, listen_until());
    return inquiry.cause_of(error);
}

void Executor::give_up(const Cause& cause) noexcept {
    if (!settled()) {
        const Engine::Exclusive held(engine_);
        parts_.failure.replace(cause);
        engine_.settle_failures(held);
    }
}

}  // namespace trefoil
