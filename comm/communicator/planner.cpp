// SPDX-License-Identifier: BSD-3-Clause
// Schedule, cutting into segments, lowering.
#include "comm/communicator/planner.hpp"

#include <cstddef>
#include <utility>

#include "comm/plan/hash.hpp"
#include "comm/plan/lower.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

namespace {

constexpr const char* same_calls =
    "all ranks must make the same calls in the same order, with the same count, type and operation "
    "(TREFOIL_CHECK=1 names each rank's call)";
constexpr const char* same_counts_in_pairs =
    "all ranks must make the same calls in the same order, with the same type, and each must "
    "receive as many elements from another as that one sends it (TREFOIL_CHECK=1 names each rank's "
    "call and counts)";

std::string text_of(const Request& request, const Choice& choice) {
    return request.text() + " by " + to_string(choice);
}

}  // namespace

std::unique_ptr<Plan> Planner::plan(const Request& request, const Choice& choice) {
    auto plan = std::make_unique<Plan>();
    plan->text = text_of(request, choice);
    plan->call.signature = text_hash(plan->text) ^ channels_.secret;
    plan->call.text = plan->text.c_str();
    plan->call.agreement = request.counts_in_pairs() ? same_counts_in_pairs : same_calls;
    plan->call.element_bytes = request.element_bytes();
    if (request.user != nullptr) {
        plan->user = request.user;
        plan->call.kernels.user = plan->user.get();
    } else if (request.traits().reduces) {
        plan->call.kernels = reduce_kernels(request.type, request.op);
        plan->call.kernels.ranks = static_cast<std::uint32_t>(map_.torus.ranks());
    }
    const std::size_t out = channels_.out.size(), in = channels_.in.size();
    lower_segments(*plan, request, choice, *schedules_.get(choice));
    plan->call.segments = plan->segments;
    tell_new_channels(out, in);
    return plan;
}

/// `out` and `in`: how many there were before.
void Planner::tell_new_channels(std::size_t out, std::size_t in) const {
    if (channels_.out.size() == out && channels_.in.size() == in) {
        return;
    }
    log_info(LogTopic::transport, [&] {
        return std::to_string(channels_.out.size() - out) + " channels out and " +
               std::to_string(channels_.in.size() - in) +
               " in; landing memory: " + std::to_string(channels_.landing_bytes()) + " bytes";
    });
    for (std::size_t c = out; c < channels_.out.size(); ++c) {
        log_debug(LogTopic::transport, [&] {
            return "connects: " +
                   route_text(channels_, channels_.out[c].port, channels_.out[c].peer);
        });
    }
}

/// Segments of one shape share a program.
void Planner::lower_segments(Plan& plan, const Request& request, const Choice& choice,
                             const Schedule& schedule) {
    const auto [segments, per_segment] = cut(request, choice, map_.torus, schedule, limits_);
    SegmentShape shape = segment_shape(request, choice, map_, schedule);
    const bool is_stage = choice.algorithm->set != nullptr && choice.algorithm->set->is_stage;
    LowerOptions options{
        .acknowledged = !request.synchronises() || is_stage,
        // By node a segment collects inside the nodes first, beside the pipeline before it.
        .drains_from =
            choice.algorithm->returns() && !choice.options.by_node ? choice.options.pieces : 0,
        .counts_in_pairs = request.counts_in_pairs(),
        .at_lines = request.user != nullptr &&
                    request.element_bytes() % (2 * alignof(std::max_align_t)) == 0};
    for (const auto& group : channels_.groups) {
        options.pack_all |= group->traits().needs_registered_source;
    }
    for (std::size_t s = 0; s < segments; ++s) {
        std::vector<std::size_t> elements = segment_elements(request, map_.torus, s, per_segment);
        if (plan.programs.empty() || elements != shape.elements) {
            shape.elements = std::move(elements);
            add_program(plan, lower(schedule, VectorMap(schedule, shape), channels_, options));
        }
        plan.segments.push_back(
            {plan.programs.back().get(), s * per_segment * request.element_bytes()});
    }
}

void Planner::add_ways_back(const Plan& plan) {
    for (const auto& program : plan.programs) {
        for (const std::uint32_t in : program->used_in) {
            (void)channels_.add_out(channels_.in[in].peer, channels_.in[in].port, Ring::tiny);
        }
        for (const std::uint32_t out : program->used_out) {
            (void)channels_.add_in(channels_.out[out].peer, channels_.out[out].port, Ring::tiny);
        }
    }
    for (const auto& program : plan.programs) {
        executor_.reserve(*program);
    }
}

void Planner::add_program(Plan& plan, Program program) {
    program.number = static_cast<std::uint32_t>(plan.programs.size());
    plan.programs.push_back(programs_.share(std::move(program)));
    executor_.reserve(*plan.programs.back());
}

}  // namespace trefoil
