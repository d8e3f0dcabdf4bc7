// SPDX-License-Identifier: BSD-3-Clause
// The communicator's calls: from a request to a cached plan to the executor.
#include <new>

#include "algorithms/registry/registry.hpp"
#include "comm/communicator/call_check.hpp"
#include "comm/communicator/communicator.hpp"
#include "comm/communicator/one_rank.hpp"
#include "topo/device_memory.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

namespace {

/// "allreduce of ... by ...: 2 segments, 34 puts".
std::string text_of(const Plan& plan) {
    std::size_t puts = 0;
    for (const CallSegment& segment : plan.segments) {
        puts += segment.program->puts.size();
    }
    return plan.text + ": " + std::to_string(plan.segments.size()) +
           (plan.segments.size() == 1 ? " segment, " : " segments, ") + std::to_string(puts) +
           (puts == 1 ? " put" : " puts");
}

CallVectors vectors_of(const void* send, void* recv) {
    return {static_cast<const std::byte*>(send), static_cast<std::byte*>(recv)};
}

}  // namespace

void Communicator::run(const Request& request, const void* send, void* recv, FoundPlan* found) {
    check_alive();
    if (const Plan* const again = plan_that_stands(found);
        again != nullptr && !learner_ && buffers_in_flight_.empty()) {
        run_plan(*again, send, recv);
        return;
    }
    if (ranks() == 1) {
        run_alone(request, torus(), send, recv);
        return;
    }
    if (settings().compare_buffers && !buffers_in_flight_.empty()) {
        blocking_.set(request, torus(), rank(), send, recv);
        buffers_in_flight_.require_free(blocking_);
    }
    if (settings().check_calls) {
        check(request);
        found = nullptr;
    }
    if (names_circuits(request)) {
        run_in_pieces(request, send, recv);
        return;
    }
    if (learner_) [[unlikely]] {
        if (Trial* const trial = learner_->trial_of(request)) {
            run_in_trial(*trial, request, send, recv);
            return;
        }
    }
    run_unchecked(request, send, recv, found);
}

/// All ranks' calls, before anything moves. What makes this rank refuse the call is compared too.
void Communicator::check(const Request& request) {
    const CallCheck check(rank(), ranks(), [this](const Request& of, const void* from, void* to) {
        run_unchecked(of, from, to);
    });
    std::string text = compared_text(request);
    try {
        text += " by " + to_string(algorithm(request));
    } catch (const Error& error) {
        text += std::string(", refused: ") + error.what();
    }
    check.compare(text);
    if (request.counts_in_pairs()) {
        check.compare_pairs(request);
    }
}

const Plan& Communicator::plan_of(const Request& request, const void* send, void* recv) {
    if (const Plan* const found = plans_.find(request, chooser_->forced(request))) {
        return *found;
    }
    // The C interface has asked the runtimes that it knew; another may have come since.
    look_for_device_runtimes();
    require_host_memory(send, "send buffer");
    require_host_memory(recv, "receive buffer");
    return make_plan(request);
}

void Communicator::run_unchecked(const Request& request, const void* send, void* recv,
                                 FoundPlan* found) {
    const Plan* const again = plan_that_stands(found);
    const Plan& plan = again != nullptr ? *again : plan_of(request, send, recv);
    if (found != nullptr && again == nullptr) {
        *found = {&plan, plan_version()};
    }
    run_plan(plan, send, recv);
}

void Communicator::run_plan(const Plan& plan, const void* send, void* recv) {
    if (plan.call.segments.empty()) {
        (void)numbers_->next();  // no segment: it would use up slots for nothing
        return;
    }
    Executor& executor = lane_of(plan).executor();
    const Status status = executor.run(plan.call, vectors_of(send, recv));
    if (status != Status::success) {
        fail(executor.error());
    }
}

void PendingCall::keep(const Request& asked) {
    const auto kept = [](std::span<const std::size_t> list, std::vector<std::size_t>& copy) {
        copy.assign(list.begin(), list.end());
        return std::span<const std::size_t>(copy);
    };
    request = asked;
    request.counts = kept(asked.counts, counts);
    request.displacements = kept(asked.displacements, displacements);
    request.send_counts = kept(asked.send_counts, send_counts);
    request.send_displacements = kept(asked.send_displacements, send_displacements);
}

void Communicator::prepare(PendingCall& call, const Request& request, const void* send, void* recv,
                           bool persistent) {
    check_alive();
    if (names_circuits(request)) {
        refuse_circuits(request, "which change during calls that block, and during no others");
    }
    call.send = send;
    call.recv = recv;
    call.complete = true;
    call.plan.reset();
    if (ranks() > 1) {
        if (settings().compare_buffers) {
            call.buffers.set(request, torus(), rank(), send, recv);
        }
        call.plan = plan_of(request, send, recv).shared_from_this();
    }
    if (ranks() == 1 || settings().check_calls) {
        call.keep(request);
    }
    if (persistent) {
        const BufferBytes bytes = buffer_bytes(request, torus(), rank());
        call.persistent = std::make_unique<PersistentCall>(
            world_->user_memory(), request, PersistentCall::Buffers{send, recv, bytes});
        if (may_land_directly(call, request)) {
            call.persistent->let_land_directly(lane_of(*call.plan), *call.plan, call.running);
        }
    }
}

/// Where all ranks know what all send, and copying costs more than agreeing.
bool Communicator::may_land_directly(const PendingCall& call, const Request& request) const {
    return call.plan && !call.plan->small && !request.counts_in_pairs() &&
           request.vector_elements(torus()) * request.element_bytes() >= settings().direct_from;
}

void Communicator::start(PendingCall& call) {
    check_alive();
    if (!call.plan) {
        run_alone(call.request, torus(), call.send, call.recv);
        return;
    }
    if (settings().compare_buffers) {
        buffers_in_flight_.require_free(call.buffers);
        buffers_in_flight_.reserve();
    }
    if (settings().check_calls) {
        check(call.request);
    }
    call.complete = call.plan->call.segments.empty();
    if (call.complete) {
        (void)numbers_->next();
        return;
    }
    if (call.plan->user) {
        call.operation = call.plan->user->in_use;
    }
    Executor& executor = lane_of(*call.plan).executor();
    CallVectors vectors = vectors_of(call.send, call.recv);
    if (call.persistent && call.persistent->direct() != nullptr) {
        vectors.direct = call.persistent->direct();
        executor.start_direct(*vectors.direct);
    }
    executor.issue(call.running, call.plan->call, vectors);
    if (settings().compare_buffers) {
        buffers_in_flight_.add(call);
    }
}

void Communicator::progress() {
    world_->port_threads().require_usable();
    if (Lane* const lane = lanes_.any()) {
        (void)lane->executor().advance();
    }
}

void Communicator::wait(PendingCall& call) {
    if (call.complete) {
        return;
    }
    Executor& executor = lane_of(*call.plan).executor();
    if (!executor.is_over(call.running)) {
        world_->port_threads().require_usable();
        executor.wait(call.running);
    }
    const Status status = executor.status_of(call.running);
    if (status != Status::success) {
        fail(executor.error());
    }
}

std::vector<std::size_t> Communicator::share_counts(Rank root,
                                                    std::span<const std::size_t> counts) {
    std::vector<std::uint64_t> list(counts.begin(), counts.end());
    list.resize(static_cast<std::size_t>(ranks()));
    run({.collective = Collective::bcast,
         .type = DataType::uint64,
         .count = list.size(),
         .root = root},
        list.data(), list.data());
    return {list.begin(), list.end()};
}

const Plan& Communicator::make_plan(const Request& request) {
    const LogScope scope(world_->log());
    const Blame own(rank_, Evidence::own);
    try {
        const std::int64_t begin = world_->timeline() != nullptr ? trace_clock() : 0;
        const Decision decision = chooser_->decide(request, peer_access());
        const Choice& choice = decision.choice;
        chooser_->require_root(choice);
        chooser_->require_rank_order(request, choice);
        std::unique_ptr<Plan> made = plan_in_a_lane(request, choice);
        log_info(LogTopic::choice, [&] { return text_of(*made) + "; " + decision.reason(); });
        if (world_->timeline() != nullptr) {
            made->call.text = world_->timeline()->add_plan(made->text, begin);
        }
        return plans_.insert(request, chooser_->forced(request), std::move(made));
    } catch (const Error& error) {
        if (error.status() == Status::unsupported) {
            throw;  // all ranks find a call unsupported before anything moves
        }
        fail(Error(error.status(), error.what(), error.blame().or_of(rank_)));
    } catch (const std::bad_alloc&) {
        fail(Error(Status::out_of_memory, "out of memory while a call was prepared", own));
    } catch (const std::exception& error) {
        fail(Error(Status::internal, std::string("while a call was prepared: ") + error.what(),
                   own));
    }
}

/// What all ranks find alike decides: whether a call fits the slots of small ones depends on no
/// rank. A communicator has one guard, so that calls that read peers are in one lane.
std::unique_ptr<Plan> Communicator::plan_in_a_lane(const Request& request, const Choice& choice) {
    const bool small =
        !request.counts_in_pairs() && !choice.algorithm->traits.reads_peers &&
        request.vector_elements(torus()) * request.element_bytes() <= most_in_small_lane();
    if (small) {
        try {
            auto plan = lane(true).planner().plan(request, choice);
            plan->small = true;
            return plan;
        } catch (const Error& error) {
            if (error.status() != Status::unsupported) {
                throw;
            }
        }
    }
    return lane(false).planner().plan(request, choice);
}

void Communicator::check_alive() const {
    if (const Status failed = failed_; failed != Status::success) {
        const char* const before =
            failed == Status::aborted ? "" : "the communicator has failed before: ";
        const Error failure = this->failure();
        Blame blame = failure.blame();
        blame.before = true;
        throw Error(failed, before + std::string(failure.what()), blame);
    }
    world_->port_threads().require_usable();
}

void Communicator::fail(const Error& error) {
    const std::lock_guard failing(failing_mutex_);
    if (failed_ != Status::success) {
        throw Error(failure());
    }
    Lane* const made = lanes_.any();
    Cause cause = (made != nullptr ? *made : lane(false)).executor().cause_of(error);
    Blame& blame = cause.blame;
    if (blame.finder == Blame::nobody) {
        blame.finder = rank_;
    }
    if (blame.since == Blame::Time{}) {
        blame.since = std::chrono::system_clock::now();
    }
    const Error failure(
        cause.status, cause.text + cause.own + " (on rank " + std::to_string(rank()) + ")", blame);
    {
        const std::lock_guard lock(failure_mutex_);
        failure_ = failure;
    }
    failed_ = cause.status;
    {
        const LogScope scope(world_->log());
        log_info(LogTopic::call,
                 [&] { return "the communicator has failed: " + std::string(failure.what()); });
    }
    // First: the other takes half a second.
    world_->abandon(Error(cause.status, cause.text, blame));
    lanes_.for_each([&](Lane& lane) { lane.executor().give_up(cause); });
    throw Error(failure);
}

Error Communicator::failure() const {
    const std::lock_guard lock(failure_mutex_);
    return failure_;
}

}  // namespace trefoil
