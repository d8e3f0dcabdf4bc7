// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms, joined from its families.
#include "algorithms/registry/entries.hpp"

#include <vector>

namespace trefoil {

std::span<const Algorithm> algorithms() {
    static const std::vector<Algorithm> all = [] {
        std::vector<Algorithm> joined;
        for (const auto family :
             {allreduce_entries(), reduce_scatter_allgather_entries(), butterfly_entries(),
              spanning_tree_entries(), tree_entries(), alltoall_ring_entries(), alltoall_entries(),
              baseline_entries()}) {
            joined.insert(joined.end(), family.begin(), family.end());
        }
        return joined;
    }();
    return all;
}

}  // namespace trefoil
