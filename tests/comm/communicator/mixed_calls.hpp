// SPDX-License-Identifier: BSD-3-Clause
// An attack on calls in flight: many at a time, of any mix, ended in an order that each rank draws.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "trefoil/trefoil.h"

namespace trefoil::test {

/// Alike on all ranks.
struct Mix {
    std::size_t calls = 1000;
    unsigned seed = 1;
    std::size_t in_flight = 32;        ///< calls, at most
    std::size_t most_log = 14;         ///< vectors have less than 4 << this many elements
    bool stalls = true;                ///< ranks sleep for up to 1.5 ms now and then
    bool names_algorithms = true;      ///< not `auto` alone
    std::function<void()> ended = {};  ///< called after each call that has ended and was right
};

struct Mixed {
    std::size_t calls = 0;  ///< that have ended and were right
    std::size_t most = 0;   ///< in flight at a time
    std::string wrong;      ///< "", or the first that was wrong, or failed
};

/// Begins calls on this rank, on any of `comms`: the same list on all ranks, such as the whole, a
/// duplicate of it, this rank's row and its plane; ranks of one row may be ranks of another plane.
/// A row has as many ranks as all other rows. Persistent calls are among them. In between, tests
/// and waits of all kinds. Returns when all have ended, or at the first wrong one.
Mixed run_mixed_calls(const std::vector<trefoil_comm_t>& comms, const Mix& mix);

}  // namespace trefoil::test
