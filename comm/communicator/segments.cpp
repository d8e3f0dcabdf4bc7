// SPDX-License-Identifier: BSD-3-Clause
// Plans cut into segments: large vectors in bounded memory, and enough pieces to overlap.
#include <algorithm>
#include <cmath>
#include <limits>

#include "comm/communicator/communicator.hpp"
#include "comm/plan/lower.hpp"

namespace trefoil {

namespace {

constexpr std::size_t least_segments_bytes = std::size_t{256} << 10;
/// Of an alltoall's blocks, however many ranks share a segment: a shorter message is mostly
/// overhead.
constexpr std::size_t least_block_bytes = std::size_t{16} << 10;

/// What segment `number` takes of a block of `count` elements.
std::size_t share(std::size_t count, std::size_t number, std::size_t per_segment) {
    const std::size_t begin = number * per_segment;
    return begin >= count ? 0 : std::min(per_segment, count - begin);
}

}  // namespace

/// Elements of the vector (where ranks have blocks: of each block) per segment, so that a segment's
/// messages fit the landing slots on every rank. All ranks compute the same: the bound and the
/// number of steps do not depend on the rank, nor do alltoallv's segments on any count.
std::size_t Communicator::segment_elements(const Request& request, const ScheduleKey& key,
                                           const Schedule& schedule) const {
    // Where blocks go straight a channel has one message.
    const std::size_t messages = key.algorithm->traits.vector_variant ? 1 : schedule.steps.size();
    std::size_t padding = 2 * messages * landing_alignment;
    const double vectors = key.algorithm->landing_vectors(torus(), key.options);
    if (request.traits().blocks_both_ways() && schedule.parts.size() > 1) {
        // A part may have so much more of each block than its equal share.
        const auto blocks = static_cast<std::size_t>(std::ceil(vectors * ranks()));
        padding += blocks * schedule.parts.size() * block_unit_bytes;
    }
    const double room =
        channels_.slot_bytes > padding ? static_cast<double>(channels_.slot_bytes - padding) : 0;
    const double fitting = vectors > 0
                               ? room / vectors
                               : static_cast<double>(std::numeric_limits<std::int64_t>::max());
    const std::size_t unit =
        request.element_bytes() *
        (request.traits().has_blocks() ? static_cast<std::size_t>(ranks()) : 1);
    const auto most = static_cast<std::size_t>(fitting) / unit;
    if (most == 0) {
        throw Error(Status::unsupported,
                    std::string(key.algorithm->name) + " on torus " + torus().name() +
                        " needs more landing memory than TREFOIL_LANDING_BYTES=" +
                        std::to_string(settings_.landing_bytes) + " gives; raise it on all ranks");
    }
    const std::size_t least =
        request.traits().blocks_both_ways() ? least_block_bytes / request.element_bytes() : 0;
    return std::min(most, std::max({std::size_t{1}, least, settings_.segment_bytes / unit}));
}

/// How many segments, and how many elements of each block they take. All ranks know how long the
/// longest block is and can balance them; but not of alltoallv, where two ranks find the same
/// segments of what one sends the other because the elements of each are always the same.
Communicator::Cut Communicator::cut(const Request& request, const ScheduleKey& key,
                                    const Schedule& schedule) const {
    if (!request.traits().has_data()) {
        return {1, 0};
    }
    const std::size_t longest = request.longest();
    const std::size_t most = segment_elements(request, key, schedule);
    std::size_t segments = (longest + most - 1) / most;
    if (request.counts_in_pairs()) {
        return {segments, most};
    }
    const bool pipelined = key.algorithm->best_pieces != nullptr;  // overlaps by itself
    if (segments == 1 && longest > 1 && !pipelined &&
        request.vector_elements(ranks()) * request.element_bytes() >= least_segments_bytes) {
        segments = Executor::window;  // so that one reduces while another is on the channels
    }
    return {segments, (longest + segments - 1) / segments};
}

/// The shape of all segments, but for their elements.
SegmentShape Communicator::shape_of(const Request& request, const ScheduleKey& key,
                                    const Schedule& schedule) const {
    SegmentShape shape;
    shape.collective = request.collective;
    shape.root = request.root;
    shape.element_bytes = request.element_bytes();
    shape.in_place = request.in_place;
    for (std::size_t p = 0; request.traits().has_blocks() && p < schedule.parts.size(); ++p) {
        std::vector<Rank>& owners = shape.owners.emplace_back(
            key.algorithm->block_owners(torus(), key.options, static_cast<int>(p)));
        for (Rank& owner : owners) {
            owner = torus_map_.rank_at[owner];
        }
        for (Rank r = 0; request.traits().blocks_both_ways() && r < ranks(); ++r) {
            owners.push_back(ranks() + owners[r]);
        }
    }
    const auto add_displacements = [&](const Request& side) {
        for (Rank r = 0; r < ranks(); ++r) {
            shape.displacements.push_back(side.displacement_of(r) * request.element_bytes());
        }
    };
    if (request.traits().blocks_both_ways()) {
        add_displacements(request.sending());
    }
    if (request.traits().has_blocks()) {
        add_displacements(request);
    }
    return shape;
}

/// SegmentShape::elements of segment `number`.
std::vector<std::size_t> Communicator::elements_of(const Request& request, std::size_t number,
                                                   std::size_t per_segment) const {
    if (!request.traits().has_blocks()) {
        return {share(request.count, number, per_segment)};
    }
    std::vector<std::size_t> elements;
    const auto add = [&](const Request& side) {
        for (Rank r = 0; r < ranks(); ++r) {
            elements.push_back(share(side.count_of(r), number, per_segment));
        }
    };
    if (request.traits().blocks_both_ways()) {
        add(request.sending());
    }
    add(request);
    return elements;
}

void Communicator::lower_segments(Plan& plan, const Request& request, const ScheduleKey& key,
                                  const Schedule& schedule, bool acknowledged) {
    const std::size_t longest = request.longest();
    if (longest == 0 && request.traits().has_data()) {
        return;
    }
    const auto [segments, per_segment] = cut(request, key, schedule);
    SegmentShape shape = shape_of(request, key, schedule);
    bool pack_all = false;
    for (const auto& group : channels_.groups) {
        pack_all |= group->needs_registered_source();
    }
    for (std::size_t s = 0; s < segments && (s == 0 || s * per_segment < longest); ++s) {
        std::vector<std::size_t> elements = elements_of(request, s, per_segment);
        if (plan.programs.empty() || elements != shape.elements) {
            shape.elements = std::move(elements);
            plan.programs.push_back(std::make_unique<Program>(
                lower(schedule, VectorMap(schedule, shape), channels_, pack_all, acknowledged)));
            executor_->reserve(*plan.programs.back());
        }
        plan.segments.push_back(
            {plan.programs.back().get(), s * per_segment * request.element_bytes()});
    }
    plan.call.segments = plan.segments;
}

}  // namespace trefoil
