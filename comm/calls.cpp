// SPDX-License-Identifier: BSD-3-Clause
// The communicator's calls: from arguments to a cached plan to the executor.
#include <algorithm>
#include <cstring>
#include <functional>

#include "comm/communicator.hpp"
#include "comm/lower.hpp"
#include "comm/select.hpp"

namespace trefoil {

namespace {

constexpr std::size_t most_plans = 4096;
constexpr std::size_t least_segments_bytes = std::size_t{256} << 10;

std::uint64_t mix(std::uint64_t h, std::uint64_t value) {
    h ^= value + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
    h *= 0xbf58476d1ce4e5b9ULL;
    return h ^ h >> 29;
}

std::uint64_t hash(std::string_view text) {
    std::uint64_t h = 0xcbf29ce484222325ULL;
    for (const char c : text) {
        h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
    return mix(h, text.size());
}

}  // namespace

std::size_t Communicator::PlanHash::operator()(const PlanKey& key) const noexcept {
    const std::uint64_t kind = static_cast<std::uint64_t>(key.collective) |
                               static_cast<std::uint64_t>(key.type) << 8 |
                               static_cast<std::uint64_t>(key.op) << 16;
    return mix(mix(kind, key.count), reinterpret_cast<std::uintptr_t>(key.forced));
}

void Communicator::set_algorithm(Collective collective, std::string_view name) {
    const Algorithm* forced =
        name == "auto" ? nullptr : &find_algorithm(collective, name, torus_.get());
    if (collective == Collective::allreduce) {
        forced_ = forced;  // the barrier has one algorithm
    }
}

const Algorithm& Communicator::algorithm(Collective collective, std::size_t bytes) const {
    if (collective == Collective::barrier) {
        return find_algorithm(Collective::barrier, "dissemination", torus_.get());
    }
    return forced_ != nullptr ? *forced_ : select_allreduce(*torus_, bytes);
}

void Communicator::allreduce(const void* send, void* recv, std::size_t count, DataType type,
                             Operation op) {
    check_alive();
    const std::size_t bytes = count * size_of(type);
    if (ranks() == 1) {
        if (send != recv && bytes > 0) {
            std::memcpy(recv, send, bytes);
        }
        return;
    }
    const Plan& made = plan({Collective::allreduce, type, op, count, forced_});
    if (count > 0) {  // an empty segment would synchronise nobody, and must not use up a slot
        run(made, send, recv);
    }
}

void Communicator::barrier() {
    check_alive();
    if (ranks() > 1) {
        run(plan({Collective::barrier, DataType::int8, Operation::sum, 0, nullptr}), nullptr,
            nullptr);
    }
}

const Communicator::Plan& Communicator::plan(const PlanKey& key) {
    const auto found = plans_.find(key);
    if (found != plans_.end()) {
        return *found->second;
    }
    if (plans_.size() >= most_plans) {
        plans_.clear();  // all ranks make the same calls, hence forget at the same time
    }
    try {
        return *(plans_[key] = make_plan(key));
    } catch (const Error& error) {
        plans_.erase(key);
        if (error.status() == Status::unsupported || failed_ != Status::success) {
            throw;  // all ranks find a call unsupported before anything moves
        }
        fail(error);
    } catch (const std::bad_alloc&) {
        plans_.erase(key);
        fail(Error(Status::out_of_memory, "out of memory while a call was prepared"));
    }
}

std::unique_ptr<Communicator::Plan> Communicator::make_plan(const PlanKey& key) {
    auto plan = std::make_unique<Plan>();
    const std::size_t element_bytes = key.collective == Collective::barrier ? 1 : size_of(key.type);
    const Algorithm& chosen = algorithm(key.collective, key.count * element_bytes);
    plan->text = std::string(to_string(key.collective));
    if (key.collective == Collective::allreduce) {
        plan->text += " of " + std::to_string(key.count) + " " + std::string(to_string(key.type)) +
                      " (" + std::string(to_string(key.op)) + ")";
    }
    plan->text += " by " + std::string(chosen.name);
    const Schedule& schedule = connected_schedule(chosen, plan->text);
    plan->call.signature = hash(plan->text);
    plan->call.text = plan->text.c_str();
    plan->call.kernels = reduce_kernels(key.type, key.op);
    lower_segments(*plan, chosen, schedule, key.count, element_bytes);
    return plan;
}

const Schedule& Communicator::connected_schedule(const Algorithm& algorithm,
                                                 const std::string& agreement) {
    const auto found = schedules_.find(&algorithm);
    if (found != schedules_.end()) {
        return found->second;
    }
    const Schedule& schedule = schedules_[&algorithm] = algorithm.build(*torus_, rank());
    try {
        executor_->announce_connecting();
        const NewChannels added = wiring_->connect(schedule, agreement);
        executor_->greet(added.first_out, added.first_in);
    } catch (const Error& error) {
        schedules_.erase(&algorithm);
        // Whatever the status: the other ranks may be connected by now.
        fail(error.status() == Status::mismatch
                 ? error
                 : Error(error.status(), "while preparing " + agreement + ": " + error.what()));
    } catch (...) {
        schedules_.erase(&algorithm);
        throw;
    }
    return schedule;
}

/// Cuts the vector so that a segment's messages fit the landing slots on every rank. All ranks
/// compute the same cut: the bound and the number of steps do not depend on the rank.
void Communicator::lower_segments(Plan& plan, const Algorithm& algorithm, const Schedule& schedule,
                                  std::size_t count, std::size_t element_bytes) {
    const std::size_t padding = 2 * schedule.steps.size() * landing_alignment;
    const double room =
        wire_.slot_bytes > padding ? static_cast<double>(wire_.slot_bytes - padding) : 0;
    const auto most_bytes = static_cast<std::size_t>(room / algorithm.landing_vectors(*torus_));
    const std::size_t most = std::min(most_bytes, settings_.segment_bytes) / element_bytes;
    if (count > 0 && most == 0) {
        throw Error(Status::unsupported,
                    std::string(algorithm.name) + " on torus " + torus_->name() +
                        " needs more landing memory than TREFOIL_LANDING_BYTES=" +
                        std::to_string(settings_.landing_bytes) + " gives; raise it on all ranks");
    }
    const std::size_t bytes = count * element_bytes;
    std::size_t segments = count == 0 ? 1 : (count + most - 1) / most;
    if (segments == 1 && bytes >= least_segments_bytes) {
        segments = Executor::window;  // so that one segment reduces while another is on the wire
    }
    const std::size_t segment_elements = (count + segments - 1) / segments;
    segments = count == 0 ? 1 : (count + segment_elements - 1) / segment_elements;
    const std::size_t rest = count - (segments - 1) * segment_elements;
    bool pack_all = false;
    for (const auto& group : wire_.groups) {
        pack_all |= group->needs_registered_source();
    }
    const auto lowered = [&](std::size_t elements) {
        Program program = lower(schedule, wire_, elements, element_bytes, pack_all);
        executor_->reserve(program);
        return program;
    };
    plan.last_program = lowered(rest);
    if (segments > 1) {
        plan.program = lowered(segment_elements);
    }
    plan.call.program = &plan.program;
    plan.call.last_program = &plan.last_program;
    plan.call.segments = segments;
    plan.call.segment_bytes = segment_elements * element_bytes;
    plan.call.bytes = bytes;
}

void Communicator::run(const Plan& plan, const void* send, void* recv) {
    Call call = plan.call;
    call.input = static_cast<const std::byte*>(send);
    call.vector = static_cast<std::byte*>(recv);
    const Status status = executor_->run(call);
    if (status != Status::success) {
        fail(Error(status, executor_->failure()));
    }
}

void Communicator::check_alive() const {
    if (failed_ != Status::success) {
        throw Error(failed_, "the communicator has failed before: " + failure_);
    }
}

void Communicator::fail(const Error& error) {
    failed_ = error.status();
    failure_ = "rank " + std::to_string(rank()) + ": " + error.what();
    bootstrap_->abandon();
    throw Error(failed_, failure_);
}

}  // namespace trefoil
