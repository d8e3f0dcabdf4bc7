// SPDX-License-Identifier: BSD-3-Clause
// One call of any collective with data whose result is known, and its check.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"
#include "trefoil/trefoil.h"

namespace trefoil::test {

struct CollectiveCase {
    Collective collective = Collective::allreduce;
    std::string algorithm = "auto";
    int root = 0;
    std::size_t count = 0;  ///< of the vector, or of each rank's block
    bool in_place = false;
    /// The vector variant: rank r's block has `counts[r]` elements, at gaps of `gap` elements where
    /// the interface takes displacements; alltoallv has them in another order for each rank. Empty:
    /// `count` each.
    std::vector<std::size_t> counts = {};
    std::size_t gap = 0;
    std::int64_t salt = 0;  ///< another one for each call
};

/// Makes the call on this rank and returns "" or what is wrong. int64 sums.
std::string check_collective(trefoil_comm_t comm, const CollectiveCase& what);

std::string describe(const CollectiveCase& what);

}  // namespace trefoil::test
