// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms, joined from its families.
#include "algorithms/table.hpp"

#include <vector>

namespace trefoil {

std::span<const Algorithm> algorithms() {
    static const std::vector<Algorithm> all = [] {
        std::vector<Algorithm> joined;
        for (const auto family :
             {allreduce_table(), divided_table(), butterfly_table(), rooted_table(), tree_table(),
              ring_exchange_table(), exchange_table(), baseline_table()}) {
            joined.insert(joined.end(), family.begin(), family.end());
        }
        return joined;
    }();
    return all;
}

}  // namespace trefoil
