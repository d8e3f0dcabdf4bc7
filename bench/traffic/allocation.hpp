// SPDX-License-Identifier: BSD-3-Clause
// Which group of the machine each host of a job is in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil::tool {

struct Allocation {
    std::string name;
    std::vector<int> group_of;  ///< of each host, in the order given; groups from 0 on
    int groups = 0;
};

// All throw Error(invalid_argument) that quotes what is wrong and says the mend.

/// "a*2,b*7,a": two hosts of group a, seven of b, one more of a.
Allocation parse_allocation(const std::string& name, std::string_view runs);

/// Lines "NAME: a*2,b*7"; empty ones and those that begin with # are passed over. `file` is named
/// in messages.
std::vector<Allocation> parse_allocations(const std::string& file, std::string_view text);

/// Lines "HOST GROUP", a host for each rank in their order. A host stands in one group only.
Allocation parse_hosts(const std::string& file, std::string_view text);

/// Groups of `size` hosts, the last one as large as is left: a Dragonfly's, a fat tree's subtrees.
Allocation equal_groups(Rank hosts, Rank size);

/// A torus cut into boxes of this size, each a group.
Allocation boxes_of(const Torus& torus, std::string_view box);

/// The hosts, by their places in `allocation`, such that those of a group are neighbours, the
/// largest groups first.
std::vector<Rank> aligned_order(const Allocation& allocation);

}  // namespace trefoil::tool
