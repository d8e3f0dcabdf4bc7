// SPDX-License-Identifier: BSD-3-Clause
// What a call asks of its algorithm.
#pragma once

#include <cstddef>

namespace trefoil {

struct Needs {
    bool rank_order = false;      ///< of reductions: they go in the order of the ranks
    bool vector_variant = false;  ///< counts are known in pairs alone
    bool any_order = false;       ///< reductions give the same bits in any order
};

/// By which a block is counted where its size is not known to all ranks: alltoallv's.
inline constexpr std::size_t usual_block_bytes = 4096;

}  // namespace trefoil
