// SPDX-License-Identifier: BSD-3-Clause
// Lists of members, and what is wrong with them.
#include "comm/derived/members.hpp"

#include <algorithm>
#include <string>

#include "topo/error.hpp"

namespace trefoil {

namespace {

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Status::invalid_argument, what);
}

}  // namespace

void require_members(const std::vector<Rank>& members, Rank ranks) {
    if (members.empty()) {
        refuse("a communicator needs at least one rank; the list of its members is empty");
    }
    std::vector<bool> named(static_cast<std::size_t>(ranks));
    for (std::size_t i = 0; i < members.size(); ++i) {
        const Rank rank = members[i];
        if (rank < 0 || rank >= ranks) {
            refuse("member " + std::to_string(i) + " of the list is rank " + std::to_string(rank) +
                   ", but the communicator has the ranks 0 to " + std::to_string(ranks - 1));
        }
        if (named[rank]) {
            const auto before = std::find(members.begin(), members.end(), rank) - members.begin();
            refuse("rank " + std::to_string(rank) + " stands twice in the list of members, as " +
                   std::to_string(before) + " and " + std::to_string(i));
        }
        named[rank] = true;
    }
}

std::vector<Rank> members_of_sub(const TorusMap& parent, const std::vector<bool>& keep, Rank me) {
    const Torus& torus = parent.torus;
    if (keep.size() != static_cast<std::size_t>(torus.dimensions())) {
        refuse("there are " + std::to_string(keep.size()) +
               " flags of dimensions to keep, but the communicator's torus " + torus.name() +
               " has " + std::to_string(torus.dimensions()) + "; give one flag per dimension");
    }
    if (std::find(keep.begin(), keep.end(), true) == keep.end()) {
        refuse("no dimension of the torus " + torus.name() +
               " is kept; set the flag of at least one");
    }
    std::vector<Rank> positions{parent.position_of[me]};
    for (int j = 0; j < torus.dimensions(); ++j) {
        if (!keep[j]) {
            continue;
        }
        std::vector<Rank> along;
        for (const Rank position : positions) {
            for (Rank c = 0; c < torus.size(j); ++c) {
                along.push_back(torus.with_coordinate(position, j, c));
            }
        }
        positions = std::move(along);
    }
    for (Rank& position : positions) {
        position = parent.rank_at[position];
    }
    return positions;
}

std::vector<Rank> members_of_split(std::span<const std::int32_t> colours,
                                   std::span<const std::int32_t> keys, Rank me) {
    const std::int32_t colour = colours[me];
    std::vector<Rank> members;
    if (colour < 0) {
        return members;
    }
    for (std::size_t r = 0; r < colours.size(); ++r) {
        if (colours[r] == colour) {
            members.push_back(static_cast<Rank>(r));
        }
    }
    std::stable_sort(members.begin(), members.end(),
                     [&](Rank a, Rank b) { return keys[a] < keys[b]; });
    return members;
}

std::vector<Rank> members_of_group(std::span<const std::int32_t> list, Rank ranks, Rank me) {
    std::vector<Rank> members(list.begin(), list.end());
    require_members(members, ranks);
    if (std::find(members.begin(), members.end(), me) == members.end()) {
        refuse("rank " + std::to_string(me) +
               " is not in the list of members; only members make the new communicator");
    }
    return members;
}

}  // namespace trefoil
