// SPDX-License-Identifier: BSD-3-Clause
// What holds of all packings.
#include <algorithm>

#include "algorithms/packing/trees.hpp"

namespace trefoil {

std::vector<int> Packing::depths(const PackedTree& tree) const {
    std::vector<int> depth(to_index(ranks), -1);
    depth[to_index(tree.root)] = 0;
    std::vector<Rank> up;
    for (Rank r = 0; r < ranks; ++r) {
        Rank here = r;
        while (depth[to_index(here)] < 0) {
            up.push_back(here);
            here = links[to_index(tree.entry[to_index(here)])].from;
        }
        for (int d = depth[to_index(here)]; !up.empty(); up.pop_back()) {
            depth[to_index(up.back())] = ++d;
        }
    }
    return depth;
}

int Packing::height() const {
    int most = 0;
    for (const PackedTree& tree : trees) {
        const std::vector<int> depth = depths(tree);
        most = std::max(most, *std::max_element(depth.begin(), depth.end()));
    }
    return most;
}

double Packing::time(double share) const {
    const std::vector<int> back = both_ways ? links_back(links) : std::vector<int>();
    std::vector<int> load(links.size());
    for (const PackedTree& tree : trees) {
        for (const int link : tree.entry) {
            if (link >= 0) {
                ++load[to_index(link)];
                if (both_ways) {
                    ++load[to_index(back[to_index(link)])];
                }
            }
        }
    }
    double most = 0;
    for (std::size_t i = 0; i < links.size(); ++i) {
        most = std::max(most, share * load[i] * Fabric::whole / links[i].rate);
    }
    return most;
}

}  // namespace trefoil
