// SPDX-License-Identifier: BSD-3-Clause
// How long segments are, and what each takes of the vectors.
#include "comm/plan/segments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "comm/plan/lower.hpp"
#include "comm/plan/single_copy.hpp"
#include "threads/executor/channel_uses.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// A vector of this many bytes or more is worth two segments, even if one would hold it.
constexpr std::size_t least_bytes_to_overlap = std::size_t{256} << 10;
/// Of blocks that go each its own way, however many ranks share a segment: a shorter message is
/// mostly overhead.
constexpr std::size_t least_block_bytes = std::size_t{16} << 10;

/// What segment `number` takes of a block of `count` elements.
std::size_t share(std::size_t count, std::size_t number, std::size_t per_segment) {
    const std::size_t begin = number * per_segment;
    return begin >= count ? 0 : std::min(per_segment, count - begin);
}

std::size_t extents_and_messages(const ScheduleSet& set) {
    const LandingNeeds needs = landing_needs(set);
    return needs.extents + needs.messages;
}

/// What of a landing slot is left when every message begins at a cache line.
double usable_slot_bytes(const Request& request, const Choice& choice, const Torus& torus,
                         const Schedule& schedule, double vectors, std::size_t slot_bytes) {
    // Where blocks go straight a channel has one message. Others may have several in a step: a
    // user's schedule, of many extents, each of which is rounded on its own, or one for each block.
    const Traits traits = choice.algorithm->traits_with(choice.options);
    const double part_blocks = vectors * torus.ranks() * static_cast<double>(schedule.parts.size());
    const std::size_t messages =
        traits.vector_variant              ? 1
        : choice.algorithm->set != nullptr ? extents_and_messages(*choice.algorithm->set)
        : traits.single_blocks             ? static_cast<std::size_t>(std::lround(part_blocks))
                                           : schedule.steps.size();
    std::size_t padding = 2 * messages * landing_alignment;
    const bool in_small_shares = request.traits().blocks_both_ways() ||
                                 (request.traits().has_blocks() && choice.options.by_node);
    if (in_small_shares && schedule.parts.size() > 1) {
        // A part may have so much more of each block than its equal share.
        const auto blocks = static_cast<std::size_t>(std::ceil(vectors * torus.ranks()));
        padding += blocks * schedule.parts.size() * block_unit_bytes;
    }
    return slot_bytes > padding ? static_cast<double>(slot_bytes - padding) : 0;
}

/// The most elements per segment: its messages fit the landing slots on every rank, because the
/// bound and the number of steps do not depend on the rank.
std::size_t most_per_segment(const Request& request, const Choice& choice, const Torus& torus,
                             const Schedule& schedule, const SegmentLimits& limits) {
    const double vectors = choice.algorithm->landing(torus, choice.options);
    const double room =
        usable_slot_bytes(request, choice, torus, schedule, vectors, limits.slot_bytes);
    const double fitting = vectors > 0
                               ? room / vectors
                               : static_cast<double>(std::numeric_limits<std::int64_t>::max());
    const std::size_t unit =
        request.element_bytes() * std::max<std::size_t>(1, request.traits().blocks(torus));
    const auto most = static_cast<std::size_t>(fitting) / unit;
    if (most == 0) {
        throw Error(Status::unsupported,
                    std::string(choice.algorithm->name) + " on torus " + torus.name() +
                        " needs more landing memory than TREFOIL_LANDING_BYTES=" +
                        std::to_string(limits.landing_bytes) + " gives; raise it on all ranks");
    }
    const bool apart = request.traits().blocks_both_ways() || request.counts_in_pairs();
    const std::size_t least = apart ? least_block_bytes / request.element_bytes() : 0;
    return std::min(most, std::max({std::size_t{1}, least, limits.segment_bytes / unit}));
}

}  // namespace

Cut cut(const Request& request, const Choice& choice, const Torus& torus, const Schedule& schedule,
        const SegmentLimits& limits) {
    if (!request.traits().has_data()) {
        return {1, 0};
    }
    const std::size_t longest = request.longest();
    if (longest == 0) {
        return {};
    }
    if (choice.algorithm->traits.reads_peers) {
        const bool by_image = choice.algorithm->traits.by_image;
        if (!request.traits().reduces && !by_image) {
            return {1, longest};  // nothing is stored in between
        }
        const bool has_shares = request.traits().reduces && !request.traits().has_blocks();
        const std::size_t share_bytes = !by_image    ? segment_share_bytes
                                        : has_shares ? shown_share_bytes
                                                     : shown_block_bytes;
        const ShareSegments shares = segments_of_shares(
            longest, request.element_bytes(), has_shares ? torus.ranks() : 1, share_bytes);
        return {shares.count, shares.elements};
    }
    const std::size_t most = most_per_segment(request, choice, torus, schedule, limits);
    std::size_t segments = divided_up(longest, most);
    if (request.counts_in_pairs()) {
        return {segments, most};
    }
    // All ranks know how long the longest block is, so that segments can be of one size.
    const bool overlaps_by_itself = choice.algorithm->best_pieces != nullptr;
    const std::size_t bytes = request.vector_elements(torus) * request.element_bytes();
    if (segments == 1 && longest > 1 && !overlaps_by_itself && bytes >= least_bytes_to_overlap) {
        segments = segment_window;  // one reduces while another is on the channels
    }
    return {segments, divided_up(longest, segments)};
}

SegmentShape segment_shape(const Request& request, const Choice& choice, const TorusMap& map,
                           const Schedule& schedule) {
    const CollectiveTraits& row = request.traits();
    const Rank ranks = map.torus.ranks();
    SegmentShape shape;
    shape.collective = request.collective;
    shape.root = request.root;
    shape.element_bytes = request.element_bytes();
    shape.in_place = request.in_place;
    // Blocks of different sizes: a result that lies in the input may be where another segment
    // reads.
    shape.input_stays = row.reduces ? !row.has_blocks() || request.counts.empty()
                                    : request.collective == Collective::gather;
    shape.average = request.averages();
    shape.by_image = choice.algorithm->traits.by_image && ranks > 1;
    for (std::size_t p = 0; request.traits().has_blocks() && p < schedule.parts.size(); ++p) {
        if (row.with_neighbours()) {
            std::vector<Rank>& entries = shape.owners.emplace_back(row.vector_blocks(map.torus));
            std::iota(entries.begin(), entries.end(), 0);
            continue;
        }
        std::vector<Rank>& owners = shape.owners.emplace_back(
            choice.algorithm->block_owners(map.torus, choice.options, static_cast<int>(p)));
        for (Rank& owner : owners) {
            owner = map.rank_at[owner];
        }
        for (Rank r = 0; request.traits().blocks_both_ways() && r < ranks; ++r) {
            owners.push_back(ranks + owners[r]);
        }
    }
    const auto add_displacements = [&](const Request& side, std::uint32_t blocks) {
        for (std::uint32_t b = 0; b < blocks; ++b) {
            shape.displacements.push_back(side.displacement_of(static_cast<Rank>(b)) *
                                          request.element_bytes());
        }
    };
    if (row.blocks_both_ways()) {
        add_displacements(request.sending(), row.sent_blocks(map.torus));
    }
    add_displacements(request.of_all_blocks(), row.blocks(map.torus));
    return shape;
}

std::vector<std::size_t> segment_elements(const Request& request, const Torus& torus,
                                          std::size_t number, std::size_t per_segment) {
    const CollectiveTraits& row = request.traits();
    if (!row.has_blocks()) {
        return {share(request.count, number, per_segment)};
    }
    std::vector<std::size_t> elements;
    const auto add = [&](const Request& side, std::uint32_t blocks) {
        for (std::uint32_t b = 0; b < blocks; ++b) {
            elements.push_back(share(side.count_of(static_cast<Rank>(b)), number, per_segment));
        }
    };
    if (row.blocks_both_ways()) {
        add(request.sending(), row.sent_blocks(torus));
    }
    add(request.of_all_blocks(), row.blocks(torus));
    return elements;
}

}  // namespace trefoil
