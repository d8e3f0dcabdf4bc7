// SPDX-License-Identifier: BSD-3-Clause
// Segments by the length of the ranks' shares.
#include "comm/plan/single_copy.hpp"

#include <algorithm>
#include <array>
#include <limits>

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
constexpr SizeRange never{1, 0};
constexpr SizeRange from(std::size_t bytes) {
    return {bytes, no_end};
}

/// For which sizes of the vector single copy is the faster one.
struct Gain {
    Collective collective;
    SizeRange of_two, of_more;
};
// From the tables in docs/performance.md. Gather is left out: its root copies all alone, while more
// ranks could.
constexpr std::array<Gain, 7> gains_by_address{
    {{Collective::allreduce, from(64 * kib), from(64 * kib)},
     {Collective::reduce_scatter, from(64 * kib), from(64 * kib)},
     {Collective::allgather, from(64 * kib), from(64 * kib)},
     {Collective::bcast, never, from(256 * kib)},
     {Collective::reduce, from(64 * kib), from(256 * kib)},
     {Collective::scatter, from(256 * kib), from(256 * kib)},
     {Collective::alltoall, never, from(256 * kib)}}};
constexpr std::array<Gain, 7> gains_by_kernel{
    {{Collective::allreduce, from(2 * mib), from(256 * kib)},
     {Collective::reduce_scatter, from(16 * kib), from(128 * kib)},
     {Collective::allgather, from(8 * kib), from(128 * kib)},
     {Collective::bcast, {16 * kib, mib}, from(256 * kib)},
     {Collective::reduce, never, from(2 * mib)},
     {Collective::scatter, from(32 * kib), from(256 * kib)},
     {Collective::alltoall, from(16 * kib), from(128 * kib)}}};

}  // namespace

bool gains_by_single_copy(Collective collective, std::size_t bytes, Rank ranks, CopiesBy by) {
    if (ranks > most_single_copy_ranks ||
        (ranks > 2 && bytes / static_cast<std::size_t>(ranks) < least_single_copy_bytes_per_rank)) {
        return false;
    }
    const auto& gains = by == CopiesBy::address ? gains_by_address : gains_by_kernel;
    const auto gain = std::ranges::find(gains, collective, &Gain::collective);
    return gain != gains.end() && (ranks == 2 ? gain->of_two : gain->of_more).contains(bytes);
}

ShareSegments segments_of_shares(std::size_t elements, std::size_t element_bytes, Rank ranks) {
    const std::size_t unit = std::max<std::size_t>(1, block_unit_bytes / element_bytes);
    const std::size_t units = divided_up(elements, unit);
    const std::size_t share =
        std::max<std::size_t>(1, segment_share_bytes / (unit * element_bytes));
    const std::size_t segments = divided_up(units, share * static_cast<std::size_t>(ranks));
    if (segments == 0) {
        return {};
    }
    const std::size_t per_segment = divided_up(units, segments);
    return {divided_up(units, per_segment), per_segment * unit};
}

}  // namespace trefoil
