// SPDX-License-Identifier: BSD-3-Clause
// Segments by the length of the ranks' shares.
#include "comm/plan/single_copy.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "comm/plan/segments.hpp"
#include "comm/plan/vector_map.hpp"

namespace trefoil {

std::string single_copy_refusal(const Request& request) {
    return request.counts_in_pairs() ? "only the two ranks of a block know its count" : "";
}

namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
constexpr std::size_t four_times = 4 * least_single_copy_bytes;

/// From how many bytes of the vector on single copy is the faster one.
struct Gain {
    Collective collective;
    std::size_t of_two, of_more;
};
/// From the table in docs/performance.md: at that size and at each larger one it was not slower
/// (0.99 counts as equal), for 2 ranks and for 4. Gather is left out: its root copies all alone,
/// while more ranks could, and 4 ranks at 4 MiB gained 9% in the one run.
constexpr std::array<Gain, 7> gains{
    {{Collective::allreduce, least_single_copy_bytes, least_single_copy_bytes},
     {Collective::reduce_scatter, least_single_copy_bytes, least_single_copy_bytes},
     {Collective::allgather, least_single_copy_bytes, least_single_copy_bytes},
     {Collective::bcast, never, four_times},
     {Collective::reduce, least_single_copy_bytes, four_times},
     {Collective::scatter, four_times, four_times},
     {Collective::alltoall, never, four_times}}};

}  // namespace

bool gains_by_single_copy(Collective collective, std::size_t bytes, Rank ranks) {
    if (ranks > most_single_copy_ranks ||
        bytes / static_cast<std::size_t>(ranks) < least_single_copy_bytes_per_rank) {
        return false;
    }
    const auto gain = std::ranges::find(gains, collective, &Gain::collective);
    return gain != gains.end() && bytes >= (ranks == 2 ? gain->of_two : gain->of_more);
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
