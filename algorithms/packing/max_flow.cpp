// SPDX-License-Identifier: BSD-3-Clause
// Blocking flows along levels.
#include "algorithms/packing/max_flow.hpp"

#include <algorithm>

namespace trefoil {

void MaxFlow::arc(int from, int to, std::int64_t capacity, std::int64_t back) {
    first_[static_cast<std::size_t>(from)].push_back(static_cast<int>(arcs_.size()));
    arcs_.push_back({to, capacity});
    first_[static_cast<std::size_t>(to)].push_back(static_cast<int>(arcs_.size()));
    arcs_.push_back({from, back});
}

std::int64_t MaxFlow::run(int from, int to, std::int64_t enough) {
    std::int64_t flow = 0;
    while (flow < enough && find_levels(from, to)) {
        next_.assign(first_.size(), 0);
        while (flow < enough) {
            const std::int64_t more = push(from, to, enough - flow);
            if (more == 0) {
                break;
            }
            flow += more;
        }
    }
    return flow;
}

bool MaxFlow::find_levels(int from, int to) {
    level_.assign(first_.size(), -1);
    level_[static_cast<std::size_t>(from)] = 0;
    std::vector<int> queue{from};
    for (std::size_t i = 0; i < queue.size(); ++i) {
        const auto at = static_cast<std::size_t>(queue[i]);
        for (const int a : first_[at]) {
            const Arc& arc = arcs_[static_cast<std::size_t>(a)];
            if (arc.left > 0 && level_[static_cast<std::size_t>(arc.to)] < 0) {
                level_[static_cast<std::size_t>(arc.to)] = level_[at] + 1;
                queue.push_back(arc.to);
            }
        }
    }
    return level_[static_cast<std::size_t>(to)] >= 0;
}

/// As deep as there are levels.
std::int64_t MaxFlow::push(int at, int to, std::int64_t most) {
    if (at == to) {
        return most;
    }
    const auto& arcs = first_[static_cast<std::size_t>(at)];
    for (std::size_t& i = next_[static_cast<std::size_t>(at)]; i < arcs.size(); ++i) {
        Arc& arc = arcs_[static_cast<std::size_t>(arcs[i])];
        if (arc.left == 0 ||
            level_[static_cast<std::size_t>(arc.to)] != level_[static_cast<std::size_t>(at)] + 1) {
            continue;
        }
        const std::int64_t pushed = push(arc.to, to, std::min(most, arc.left));
        if (pushed > 0) {
            arc.left -= pushed;
            arcs_[static_cast<std::size_t>(arcs[i] ^ 1)].left += pushed;
            return pushed;
        }
    }
    return 0;
}

}  // namespace trefoil
