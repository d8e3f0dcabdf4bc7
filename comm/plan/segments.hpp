// SPDX-License-Identifier: BSD-3-Clause
// A call cut into segments: large vectors in bounded memory, and enough pieces to overlap.
#pragma once

#include <cstddef>
#include <vector>

#include "algorithms/schedule/schedule.hpp"
#include "comm/plan/choices.hpp"
#include "comm/plan/request.hpp"
#include "comm/plan/vector_map.hpp"
#include "comm/setup/torus_map.hpp"

namespace trefoil {

/// Rounded up.
constexpr std::size_t divided_up(std::size_t count, std::size_t by) {
    return (count + by - 1) / by;
}

/// What a segment must fit; equal on all ranks.
struct SegmentLimits {
    std::size_t slot_bytes = 0;     ///< a landing slot: what one peer sends through one port
    std::size_t segment_bytes = 0;  ///< of the vector, where the user wants less
    std::size_t landing_bytes = 0;  ///< what the user gave for all slots; for messages
};

/// Segment s has elements [s * per_segment, (s + 1) * per_segment) of the vector; where ranks have
/// blocks, of every block, as far as each goes. Each segment runs the whole schedule.
struct Cut {
    std::size_t segments = 0;  ///< none: there is nothing to do
    std::size_t per_segment = 0;
};

/// The cut of a call whose choice is complete; `schedule` is any rank's. Equal on all ranks, except
/// for alltoallv: there a rank knows the counts of its own blocks only, and two ranks find the same
/// segments of what one sends the other because per_segment depends on no count. Throws
/// Error(unsupported) when not even one element fits.
Cut cut(const Request& request, const Choice& choice, const Torus& torus, const Schedule& schedule,
        const SegmentLimits& limits);

/// The shape that all segments of a call share; SegmentShape::elements is left empty.
SegmentShape segment_shape(const Request& request, const Choice& choice, const TorusMap& map,
                           const Schedule& schedule);

/// SegmentShape::elements of segment `number`.
std::vector<std::size_t> segment_elements(const Request& request, const Torus& torus,
                                          std::size_t number, std::size_t per_segment);

}  // namespace trefoil
