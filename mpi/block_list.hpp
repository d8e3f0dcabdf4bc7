// SPDX-License-Identifier: BSD-3-Clause
// The blocks of one buffer, one per rank, in bytes.
#pragma once

#include <cstddef>
#include <vector>

namespace trefoil::mpi {

struct BlockList {
    std::vector<std::size_t> counts, displacements;

    /// Of blocks that lie side by side.
    std::size_t end() const { return displacements.back() + counts.back(); }
};

/// Those of a call, kept for the next one, so that it need not allocate.
struct BlockLists {
    BlockList send, recv;
};

}  // namespace trefoil::mpi
