// SPDX-License-Identifier: BSD-3-Clause
// Lowering for tests: the program of one segment of a vector in the output.
#pragma once

#include "comm/plan/lower.hpp"

namespace trefoil::test {

inline Program lowered(const Schedule& schedule, Channels& channels, std::size_t elements,
                       std::size_t element_bytes, bool pack_all) {
    SegmentShape shape;
    shape.collective = Collective::bcast;  // which copies nothing at the beginning and the end
    shape.element_bytes = element_bytes;
    shape.elements = {elements};
    return lower(schedule, VectorMap(schedule, shape), channels, {.pack_all = pack_all});
}

inline Program lowered(const Schedule& schedule, Channels&& channels, std::size_t elements,
                       std::size_t element_bytes, bool pack_all) {
    return lowered(schedule, channels, elements, element_bytes, pack_all);
}

}  // namespace trefoil::test
