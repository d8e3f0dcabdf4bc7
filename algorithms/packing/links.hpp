// SPDX-License-Identifier: BSD-3-Clause
// Lists of links.
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/schedule/to_index.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

/// What leaves comes in, through the port that it came from. In the order of Fabric::links().
std::vector<FabricLink> reversed(std::vector<FabricLink> links);

/// Of a list in that order, the index of the link that leads the other way through the same cable;
/// -1: none works.
std::vector<int> links_back(const std::vector<FabricLink>& links);

/// The least of the rates that ways from `root` to all ranks cannot do without, where each link has
/// the rate given for it (0: it may not be taken); 0: some rank cannot be reached.
int least_needed_rate(const std::vector<FabricLink>& links, const std::vector<int>& rates,
                      Rank ranks, Rank root);

/// What a cable carries both ways, by link: the slower one counts; 0: one way only.
std::vector<int> rates_both_ways(const std::vector<FabricLink>& links,
                                 const std::vector<int>& back);

/// How many trees may share a link of this rate if `m` of them share a whole one.
struct Copies {
    int m = 1;
    /// Above 0: links of at least this rate are for one tree, however slow they are, and no others
    /// are taken. So slow a link would have no copy of a few otherwise, and no tree could do
    /// without it.
    int least = 0;

    int of(int rate) const {
        const int share = m * rate / Fabric::whole;
        return least == 0 ? share : rate < least ? 0 : std::max(1, share);
    }
    /// Of so many trees: what they carry by this, to be compared. Where slow links have a copy
    /// that they have no time for, these decide, and more trees are always better.
    double worth(int trees) const { return static_cast<double>(trees) / (least == 0 ? m : 1); }
};

}  // namespace trefoil
