// SPDX-License-Identifier: BSD-3-Clause
// Sharing out NUMA nodes: cores in the order of their nodes are a line, and a rank has a stretch.
#include "topo/rank_cores.hpp"

#include <algorithm>
#include <cstddef>

namespace trefoil {

std::vector<std::vector<int>> cores_by_rank(const std::vector<NumaNode>& numa_nodes,
                                            const std::vector<int>& allowed, int ranks) {
    std::vector<std::vector<int>> nodes;
    long cores = 0;
    for (const NumaNode& numa : numa_nodes) {
        std::vector<int> usable;
        std::ranges::copy_if(numa.cores, std::back_inserter(usable),
                             [&](int core) { return std::ranges::count(allowed, core) > 0; });
        if (!usable.empty()) {
            cores += static_cast<long>(usable.size());
            nodes.push_back(std::move(usable));
        }
    }
    if (ranks < 2 || nodes.size() < 2) {
        return {};
    }
    std::vector<std::vector<int>> shares(static_cast<std::size_t>(ranks));
    // A core is `ranks` long, so that all ends of stretches are whole numbers.
    for (long rank = 0; rank < ranks; ++rank) {
        const long first = rank * cores, last = first + cores;
        std::vector<int>& share = shares[static_cast<std::size_t>(rank)];
        const std::vector<int>* middle = nullptr;
        long begin = 0;
        for (const std::vector<int>& node : nodes) {
            const long length = static_cast<long>(node.size()) * ranks, end = begin + length;
            if (2 * (std::min(last, end) - std::max(first, begin)) >= length) {
                share.insert(share.end(), node.begin(), node.end());
            }
            if (begin * 2 <= first + last && first + last < end * 2) {
                middle = &node;
            }
            begin = end;
        }
        if (share.empty() && middle != nullptr) {
            share = *middle;
        }
        std::ranges::sort(share);
    }
    return shares;
}

}  // namespace trefoil
