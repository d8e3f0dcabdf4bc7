// SPDX-License-Identifier: BSD-3-Clause
// Plans cut into segments: large vectors in bounded memory, and enough pieces to overlap.
#include <algorithm>
#include <limits>

#include "comm/communicator.hpp"
#include "comm/lower.hpp"

namespace trefoil {

namespace {

constexpr std::size_t least_segments_bytes = std::size_t{256} << 10;

/// What segment `number` takes of a block of `count` elements.
std::size_t share(std::size_t count, std::size_t number, std::size_t per_segment) {
    const std::size_t begin = number * per_segment;
    return begin >= count ? 0 : std::min(per_segment, count - begin);
}

}  // namespace

/// Elements of the vector (divided collectives: of each block) per segment, so that a segment's
/// messages fit the landing slots on every rank. All ranks compute the same: the bound and the
/// number of steps do not depend on the rank.
std::size_t Communicator::segment_elements(const Request& request, const ScheduleKey& key,
                                           const Schedule& schedule) const {
    const std::size_t padding = 2 * schedule.steps.size() * landing_alignment;
    const double room =
        wire_.slot_bytes > padding ? static_cast<double>(wire_.slot_bytes - padding) : 0;
    const double vectors = key.algorithm->landing_vectors(torus(), key.options);
    const double fitting = vectors > 0
                               ? room / vectors
                               : static_cast<double>(std::numeric_limits<std::int64_t>::max());
    const bool divided = is_divided(request.collective);
    const std::size_t unit =
        request.element_bytes() * (divided ? static_cast<std::size_t>(ranks()) : 1);
    const auto most = static_cast<std::size_t>(fitting) / unit;
    if (most == 0) {
        throw Error(Status::unsupported,
                    std::string(key.algorithm->name) + " on torus " + torus().name() +
                        " needs more landing memory than TREFOIL_LANDING_BYTES=" +
                        std::to_string(settings_.landing_bytes) + " gives; raise it on all ranks");
    }
    return std::min(most, std::max<std::size_t>(1, settings_.segment_bytes / unit));
}

void Communicator::lower_segments(Plan& plan, const Request& request, const ScheduleKey& key,
                                  const Schedule& schedule, bool acknowledged) {
    const bool divided = is_divided(request.collective);
    const std::size_t element_bytes = request.element_bytes();
    const std::size_t longest =
        request.counts.empty() ? request.count
                               : *std::max_element(request.counts.begin(), request.counts.end());
    if (longest == 0 && request.collective != Collective::barrier) {
        return;
    }
    std::size_t segments = 1;
    if (request.collective != Collective::barrier) {
        const std::size_t most = segment_elements(request, key, schedule);
        segments = (longest + most - 1) / most;
        const bool pipelined = key.algorithm->best_pieces != nullptr;  // overlaps by itself
        if (segments == 1 && longest > 1 && !pipelined &&
            request.vector_elements(ranks()) * element_bytes >= least_segments_bytes) {
            segments = Executor::window;  // so that one reduces while another is on the wire
        }
    }
    const std::size_t per_segment = (longest + segments - 1) / segments;
    SegmentShape shape;
    shape.collective = request.collective;
    shape.root = request.root;
    shape.element_bytes = element_bytes;
    for (std::size_t p = 0; divided && p < schedule.parts.size(); ++p) {
        std::vector<Rank>& owners = shape.owners.emplace_back(
            key.algorithm->block_owners(torus(), key.options, static_cast<int>(p)));
        for (Rank& owner : owners) {
            owner = torus_map_.rank_at[owner];
        }
    }
    for (Rank r = 0; divided && r < ranks(); ++r) {
        shape.displacements.push_back(request.displacement_of(r) * element_bytes);
    }
    bool pack_all = false;
    for (const auto& group : wire_.groups) {
        pack_all |= group->needs_registered_source();
    }
    for (std::size_t s = 0; s < segments && (s == 0 || s * per_segment < longest); ++s) {
        std::vector<std::size_t> elements;
        for (Rank r = 0; r < (divided ? ranks() : 1); ++r) {
            elements.push_back(
                share(divided ? request.count_of(r) : request.count, s, per_segment));
        }
        if (plan.programs.empty() || elements != shape.elements) {
            shape.elements = std::move(elements);
            plan.programs.push_back(std::make_unique<Program>(
                lower(schedule, VectorMap(schedule, shape), wire_, pack_all, acknowledged)));
            executor_->reserve(*plan.programs.back());
        }
        plan.segments.push_back({plan.programs.back().get(), s * per_segment * element_bytes});
    }
    plan.call.segments = plan.segments;
}

}  // namespace trefoil
