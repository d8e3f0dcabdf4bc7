// SPDX-License-Identifier: BSD-3-Clause
// The communicator's calls: from a request to a cached plan to the executor.
#include <algorithm>
#include <cstring>
#include <functional>

#include "algorithms/registry/registry.hpp"
#include "comm/communicator/communicator.hpp"
#include "comm/plan/hash.hpp"
#include "comm/plan/select.hpp"
#include "comm/plan/single_copy.hpp"

namespace trefoil {

namespace {
constexpr std::size_t most_plans = 4096;
/// The lists of an alltoallv may differ in every call, so its plans are bounded by their length.
constexpr std::size_t most_puts_of_alltoallv = std::size_t{1} << 16;

constexpr const char* same_calls =
    "all ranks must make the same calls in the same order, with the same count, type and operation";
constexpr const char* same_counts_in_pairs =
    "all ranks must make the same calls in the same order, with the same type, and each must "
    "receive as many elements from another as that one sends it";

/// Whose order and channels the direct allreduce has.
const Algorithm& direct_algorithm() {
    static const Algorithm& ordered = find_algorithm(Collective::allreduce, "ordered");
    return ordered;
}

std::string plan_text(const Request& request, const Choice& chosen) {
    return request.text() + " by " + to_string(chosen);
}

/// Where a vector of `bytes` lies, moved by `offset`; null stays null.
const std::byte* moved(const void* vector, std::size_t offset) {
    return vector == nullptr ? nullptr : static_cast<const std::byte*>(vector) + offset;
}
}  // namespace

std::size_t Communicator::PlanHash::operator()(const Request& request) const noexcept {
    return request.hash();
}

std::size_t Communicator::ScheduleHash::operator()(const ScheduleKey& key) const noexcept {
    return mix_hash(reinterpret_cast<std::uintptr_t>(key.algorithm),
                    static_cast<std::uint64_t>(key.options.root));
}

Choice Communicator::algorithm(const Request& request) const {
    const SelectionBasis basis = selection_basis(settings_);
    const bool pairs = request.counts_in_pairs();
    const std::size_t bytes = pairs ? usual_block_bytes * static_cast<std::size_t>(ranks())
                                    : request.vector_elements(ranks()) * request.element_bytes();
    Choice chosen = choice(request.collective);
    if (may_run_directly(request.collective, bytes, chosen)) {
        return {&direct_algorithm(), {}};
    }
    if (chosen.algorithm == nullptr) {
        const Needs needs{!request.commutes() || settings_.reproducible, pairs};
        chosen = choose_algorithm(request.collective, torus(), bytes, needs, basis).choice;
        chosen.options.sync = phase_sync(*chosen.algorithm);
        return chosen;
    }
    if (pairs && !chosen.algorithm->traits.vector_variant) {
        throw Error(Status::unsupported,
                    std::string(chosen.algorithm->name) +
                        " forwards blocks, which must be of one size; for alltoallv use auto, or "
                        "an algorithm that `trefoil info` lists as taking blocks of any sizes");
    }
    if (chosen.options.pieces == 0) {
        chosen.options.pieces = pieces_for(*chosen.algorithm, torus(), bytes, basis);
    }
    if (chosen.options.sync == PhaseSync::none) {
        chosen.options.sync = phase_sync(*chosen.algorithm);
    }
    return chosen;
}

/// What TREFOIL_PHASE_SYNC makes of an algorithm.
PhaseSync Communicator::phase_sync(const Algorithm& algorithm) const {
    const bool signals = settings_.phase_sync == PhaseSync::signals && algorithm.abilities.signals;
    const bool any = settings_.phase_sync != PhaseSync::none && algorithm.abilities.barriers;
    return signals ? PhaseSync::signals : any ? PhaseSync::barrier : PhaseSync::none;
}

void Communicator::run(const Request& asked, const void* send, void* recv) {
    check_alive();
    if (ranks() == 1) {
        run_alone(asked, send, recv);
        return;
    }
    Request request = asked;
    const Choice& forced = choice(request.collective);
    request.algorithm = forced.algorithm;
    request.options = forced.options;
    request.options.root = torus_map_.position_of[request.root];
    const Plan& made = plan(request);
    if (made.segments.empty() && !request.counts_in_pairs()) {
        return;  // an empty segment would synchronise nobody, and must not use up slots
    }
    Call call = made.call;
    call.input = moved(send, 0);
    call.output = static_cast<std::byte*>(recv);
    const Status status = executor_->run(call);
    if (status != Status::success) {
        fail(Error(status, executor_->failure()));
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

/// One rank: its own block is the vector.
void Communicator::run_alone(const Request& request, const void* send, void* recv) const {
    const std::size_t bytes = request.count_of(0) * request.element_bytes();
    const auto shift = [&](const Request& side, bool all) {
        return all ? side.displacement_of(0) * request.element_bytes() : 0;
    };
    const CollectiveTraits& row = request.traits();
    const std::byte* source =
        moved(send, shift(request.sending(), row.in.data == Data::rank_blocks));
    auto* target =
        const_cast<std::byte*>(moved(recv, shift(request, row.out.data == Data::rank_blocks)));
    if (bytes > 0 && source != nullptr && target != nullptr && source != target) {
        std::memmove(target, source, bytes);
    }
}

const Communicator::Plan& Communicator::plan(const Request& request) {
    const auto found = plans_.find(request);
    if (found != plans_.end()) {
        return *found->second;
    }
    if (plans_.size() >= most_plans || puts_of_alltoallv_ >= most_puts_of_alltoallv) {
        plans_.clear();  // no rank needs to forget when others do: schedules and channels stay
        puts_of_alltoallv_ = 0;
    }
    try {
        const std::int64_t begin = trace_ ? trace_clock() : 0;
        std::unique_ptr<Plan> made = make_plan(request);
        if (trace_) {
            made->call.text = trace_->keep(made->text);
            note_preparation(made->call.text, begin);
        }
        Request key = request;  // its spans must outlive this call
        key.counts = made->counts;
        key.displacements = made->displacements;
        key.send_counts = made->send_counts;
        key.send_displacements = made->send_displacements;
        for (const auto& program : made->programs) {
            puts_of_alltoallv_ += request.counts_in_pairs() ? program->puts.size() : 0;
        }
        return *plans_.emplace(key, std::move(made)).first->second;
    } catch (const Error& error) {
        if (error.status() == Status::unsupported || failed_ != Status::success) {
            throw;  // all ranks find a call unsupported before anything moves
        }
        fail(error);
    } catch (const std::bad_alloc&) {
        fail(Error(Status::out_of_memory, "out of memory while a call was prepared"));
    }
}

std::unique_ptr<Communicator::Plan> Communicator::make_plan(const Request& request) {
    auto plan = std::make_unique<Plan>();
    plan->counts.assign(request.counts.begin(), request.counts.end());
    plan->displacements.assign(request.displacements.begin(), request.displacements.end());
    plan->send_counts.assign(request.send_counts.begin(), request.send_counts.end());
    plan->send_displacements.assign(request.send_displacements.begin(),
                                    request.send_displacements.end());
    const std::size_t bytes = request.vector_elements(ranks()) * request.element_bytes();
    const bool direct = runs_directly(request, bytes);
    const Choice chosen = algorithm(request);
    if (request.traits().reduces && (!request.commutes() || settings_.reproducible)) {
        require_rank_order(request, *chosen.algorithm);
    }
    ScheduleKey key{chosen.algorithm, request.options};
    key.options.pieces = chosen.options.pieces;
    key.options.sync = chosen.options.sync;
    plan->text = plan_text(request, chosen);
    const bool acknowledged = !request.synchronises();
    const Schedule& schedule = connected_schedule(key, acknowledged, plan->text);
    plan->call.signature = text_hash(plan->text);
    plan->call.text = plan->text.c_str();
    plan->call.agreement = request.counts_in_pairs() ? same_counts_in_pairs : same_calls;
    plan->call.element_bytes = request.element_bytes();
    if (request.user != nullptr) {
        plan->user = request.user;
        plan->call.kernels.user = plan->user.get();
    } else if (request.traits().reduces) {
        plan->call.kernels = reduce_kernels(request.type, request.op);
    }
    if (direct) {
        plan->programs.push_back(std::make_unique<Program>(lower_directly(
            schedule, channels_, rank(), ranks(), request.count, request.element_bytes())));
        executor_->reserve(*plan->programs.back());
        plan->segments.push_back({plan->programs.back().get(), 0});
        plan->call.segments = plan->segments;
    } else {
        lower_segments(*plan, request, key, schedule, acknowledged);
    }
    return plan;
}

/// As far as is known: the ranks find out at the first call that might.
bool Communicator::may_run_directly(Collective collective, std::size_t bytes,
                                    const Choice& forced) const {
    const bool suits = forced.algorithm == nullptr || (forced.algorithm == &direct_algorithm() &&
                                                       forced.options == BuildOptions{});
    return settings_.single_copy && settings_.backend == "memory" && direct_.value_or(true) &&
           suits && gains_directly(collective, bytes, ranks());
}

/// Alike on all ranks, which tell each other once whether the kernel lets them.
bool Communicator::runs_directly(const Request& request, std::size_t bytes) {
    const Choice& forced = choice(request.collective);
    if (!may_run_directly(request.collective, bytes, forced)) {
        return false;
    }
    if (!direct_) {
        const Schedule& schedule =
            connected_schedule({&direct_algorithm(), request.options}, false,
                               plan_text(request, {&direct_algorithm(), {}}));
        const auto all = exchange("direct access", [&] {
            return std::string(reaches_all(schedule, channels_) ? "yes" : "no");
        });
        direct_ = std::all_of(all.begin(), all.end(), [](const auto& one) { return one == "yes"; });
    }
    return *direct_;
}

void Communicator::require_rank_order(const Request& request, const Algorithm& chosen) const {
    const char* const who =
        request.commutes() ? "TREFOIL_REPRODUCIBLE=1" : "an operation that does not commute";
    if (!chosen.traits.order_preserving) {
        throw Error(Status::unsupported,
                    std::string(chosen.name) + " does not reduce in rank order, which " + who +
                        " needs; use auto, or an algorithm that `trefoil info` lists as order "
                        "preserving");
    }
    if (!std::is_sorted(torus_map_.rank_at.begin(), torus_map_.rank_at.end())) {
        throw Error(Status::unsupported,
                    std::string(who) +
                        " needs ranks that lie in the torus row by row, but the coordinates given "
                        "put them in another order");
    }
}

const Schedule& Communicator::connected_schedule(const ScheduleKey& key, bool acknowledged,
                                                 const std::string& agreement) {
    const auto found = schedules_.find(key);
    if (found != schedules_.end() && (!acknowledged || found->second.acknowledged)) {
        return found->second.schedule;
    }
    ConnectedSchedule& made = schedules_[key] = {
        key.algorithm->build(torus(), torus_map_.position_of[rank()], key.options), acknowledged};
    torus_map_.renumber(made.schedule);
    try {
        executor_->announce_connecting();
        channel_setup_->exchange(made.schedule, acknowledged, agreement);
        for_all("connections", [this] {
            const NewChannels added = channel_setup_->connect();
            executor_->greet(added.first_out, added.first_in);
        });
    } catch (const Error& error) {
        schedules_.erase(key);
        // Whatever the status: the other ranks may be connected by now.
        fail(error.status() == Status::mismatch
                 ? error
                 : Error(error.status(), "while preparing " + agreement + ": " + error.what()));
    } catch (...) {
        schedules_.erase(key);
        throw;
    }
    return made.schedule;
}

void Communicator::check_alive() const {
    if (failed_ != Status::success) {
        throw Error(failed_, "the communicator has failed before: " + failure_);
    }
    port_threads_->require_usable();
}

void Communicator::fail(const Error& error) {
    failed_ = error.status();
    failure_ = "rank " + std::to_string(rank()) + ": " + error.what();
    bootstrap_->abandon();
    throw Error(failed_, failure_);
}

}  // namespace trefoil
