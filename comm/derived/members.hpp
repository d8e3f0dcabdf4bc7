// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of a communicator a new one consists of, in the order of their new ranks. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/setup/torus_map.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Throws Error(invalid_argument) that names what is wrong: no member, a rank that a communicator
/// of `ranks` does not have, one named twice.
void require_members(const std::vector<Rank>& members, Rank ranks);

/// The ranks that differ from `me` in no dimension but those that `keep` has a flag for, by their
/// place, row by row. Throws Error(invalid_argument) when the flags are not one per dimension or
/// none is set.
std::vector<Rank> members_of_sub(const TorusMap& parent, const std::vector<bool>& keep, Rank me);

/// Of the ranks whose colour is that of `me`, by key, and of equal keys by rank. `colours` and
/// `keys` by rank, of the same length. A negative colour takes no part: empty for such a rank.
std::vector<Rank> members_of_split(std::span<const std::int32_t> colours,
                                   std::span<const std::int32_t> keys, Rank me);

/// The list as it is, for a parent of `ranks`. Throws as require_members(), and when `me` is not in
/// the list: only members make a group.
std::vector<Rank> members_of_group(std::span<const std::int32_t> list, Rank ranks, Rank me);

}  // namespace trefoil
