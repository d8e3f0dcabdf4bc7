// SPDX-License-Identifier: BSD-3-Clause
// Segments by the length of the ranks' shares.
#include "comm/plan/single_copy.hpp"

#include <algorithm>

#include "comm/plan/segments.hpp"
#include "comm/plan/vector_map.hpp"

namespace trefoil {

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
