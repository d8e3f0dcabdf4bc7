// SPDX-License-Identifier: BSD-3-Clause
// Two parts that talk to the same peers become one part with messages twice as large.
#pragma once

#include "algorithms/schedule/schedule.hpp"

namespace trefoil {

/// For a schedule of 2P parts: part p of the result holds the blocks of part p, then those of part
/// P + p. Messages of one step through the same port to or from the same rank become one, so that
/// a mirrored half costs no message of its own. Parts p and P + p must have equally many steps and
/// no scratch blocks, and every message is applied to one place.
Schedule join_halves(const Schedule& schedule);

}  // namespace trefoil
