// SPDX-License-Identifier: BSD-3-Clause
// What travels along one axis of a torus: enough to tell how links are loaded, without a schedule
// of each rank.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/schedule/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// A message between ranks of the axis of one dimension through rank 0.
struct AxisMessage {
    int step = 0;  ///< of the schedule
    Rank from = 0;
    Rank to = 0;  ///< both as coordinates of the dimension
    Port port;    ///< the sender's
    std::int64_t blocks = 0;
};

/// The same message among `steps` steps that are gone through backwards: from the other end.
inline AxisMessage backwards(const AxisMessage& m, int steps) {
    return {steps - 1 - m.step, m.to, m.from, m.port.opposite(), m.blocks};
}

/// All messages along one axis, of all parts, in any order.
struct AxisMessages {
    int parts = 0;
    Block blocks_of_part = 1;  ///< that the vector has in each part; alike in all of them
    std::vector<AxisMessage> messages;
};

}  // namespace trefoil
