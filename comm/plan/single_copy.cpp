// SPDX-License-Identifier: BSD-3-Clause
// Segments by the length of the ranks' shares.
#include "comm/plan/single_copy.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "algorithms/registry/registry.hpp"
#include "comm/plan/segments.hpp"
#include "comm/plan/vector_map.hpp"
#include "topo/sizes.hpp"

namespace trefoil {

std::string single_copy_refusal(const Request& request) {
    return request.counts_in_pairs() ? "only the two ranks of a block know its count" : "";
}

namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;
constexpr std::size_t no_end = std::numeric_limits<std::size_t>::max();
constexpr SizeRange at_no_size{1, 0};
constexpr SizeRange from(std::size_t bytes) {
    return {bytes, no_end};
}

/// For which sizes of the vector an algorithm is the fastest.
struct Gain {
    Collective collective;
    std::string_view algorithm;
    SizeRange of_two, of_more;
};
constexpr std::string_view shares = "single-copy", root = "single-copy-root";
// From the tables in docs/performance.md.
constexpr std::array<Gain, 9> gains_by_address{
    {{Collective::allreduce, shares, from(32 * kib), from(64 * kib)},
     {Collective::reduce_scatter, shares, from(16 * kib), from(64 * kib)},
     {Collective::allgather, shares, from(16 * kib), from(64 * kib)},
     {Collective::bcast, shares, at_no_size, from(256 * kib)},
     {Collective::reduce, root, {16 * kib, 512 * kib}, at_no_size},
     {Collective::reduce, shares, from(512 * kib + 1), from(256 * kib)},
     {Collective::gather, shares, {32 * kib, 512 * kib}, from(256 * kib)},
     {Collective::scatter, shares, from(32 * kib), from(256 * kib)},
     {Collective::alltoall, shares, at_no_size, from(256 * kib)}}};
constexpr std::array<Gain, 9> gains_by_kernel{
    {{Collective::allreduce, shares, from(2 * mib), from(256 * kib)},
     {Collective::reduce_scatter, shares, from(128 * kib), from(128 * kib)},
     {Collective::allgather, shares, from(32 * kib), from(256 * kib)},
     {Collective::bcast, shares, {64 * kib, mib}, from(256 * kib)},
     {Collective::reduce, root, {32 * kib, mib}, at_no_size},
     {Collective::reduce, shares, at_no_size, from(2 * mib)},
     {Collective::gather, shares, {128 * kib, mib}, from(256 * kib)},
     {Collective::scatter, shares, from(32 * kib), from(256 * kib)},
     {Collective::alltoall, shares, from(64 * kib), from(256 * kib)}}};

/// More ranks gain more: each byte is copied once for all of them, where landing slots take a copy
/// for each reader.
struct ImageGain {
    Collective collective;
    Rank least_ranks;
    SizeRange bytes;
};
constexpr std::array<ImageGain, 6> gains_by_image{{{Collective::allreduce, 4, from(128 * kib)},
                                                   {Collective::allreduce, 3, from(mib)},
                                                   {Collective::allgather, 4, from(128 * kib)},
                                                   {Collective::bcast, 8, from(64 * kib)},
                                                   {Collective::bcast, 5, from(128 * kib)},
                                                   {Collective::reduce, 3, from(mib)}}};

}  // namespace

const Algorithm* gaining_single_copy(Collective collective, std::size_t bytes, Rank ranks,
                                     CopiesBy by) {
    if (ranks > most_single_copy_ranks ||
        (ranks > 2 && bytes / static_cast<std::size_t>(ranks) < least_single_copy_bytes_per_rank)) {
        return nullptr;
    }
    const auto& gains = by == CopiesBy::address ? gains_by_address : gains_by_kernel;
    const auto gain = std::ranges::find_if(gains, [&](const Gain& one) {
        return one.collective == collective &&
               (ranks == 2 ? one.of_two : one.of_more).contains(bytes);
    });
    return gain == gains.end() ? nullptr : &find_algorithm(collective, gain->algorithm);
}

const Algorithm* gaining_reader(Collective collective, std::size_t bytes, Rank ranks,
                                const PeerAccess& access, CopiesBy by) {
    // By addresses nobody need copy twice.
    const auto gains = [&](const ImageGain& one) {
        return one.collective == collective && ranks >= one.least_ranks &&
               one.bytes.contains(bytes);
    };
    if (access.images && by == CopiesBy::kernel && ranks <= most_single_copy_ranks &&
        std::ranges::any_of(gains_by_image, gains)) {
        return &find_algorithm(collective, "shared-copy");
    }
    return access.vectors ? gaining_single_copy(collective, bytes, ranks, by) : nullptr;
}

ShareSegments segments_of_shares(std::size_t elements, std::size_t element_bytes, Rank ranks,
                                 std::size_t share_bytes) {
    const std::size_t unit = std::max<std::size_t>(1, block_unit_bytes / element_bytes);
    const std::size_t units = divided_up(elements, unit);
    const std::size_t share = std::max<std::size_t>(1, share_bytes / (unit * element_bytes));
    const std::size_t segments = divided_up(units, share * static_cast<std::size_t>(ranks));
    if (segments == 0) {
        return {};
    }
    const std::size_t per_segment = divided_up(units, segments);
    return {divided_up(units, per_segment), per_segment * unit};
}

}  // namespace trefoil
