// SPDX-License-Identifier: BSD-3-Clause
// Allreduce on one host without landing memory: every rank reduces a share of the vector straight
// from all ranks' inputs and writes it into all their outputs.
#pragma once

#include <cstddef>

#include "algorithms/schedule/algorithm.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/program.hpp"

namespace trefoil {

/// From both on (bytes of the vector) two rounds of messages to all cost less than copying through
/// landing slots does. Measured with 2, 4 and 9 ranks.
inline constexpr std::size_t least_direct_bytes = std::size_t{64} << 10;
inline constexpr std::size_t least_direct_bytes_per_rank = std::size_t{16} << 10;
/// A rank writes to all others, so beyond this many there is too little left of each share.
inline constexpr Rank most_direct_ranks = 64;

/// Whether such a call gains by it, if the ranks get at each other's memory.
constexpr bool gains_directly(Collective collective, std::size_t bytes, Rank ranks) {
    return collective == Collective::allreduce && bytes >= least_direct_bytes &&
           bytes / static_cast<std::size_t>(ranks) >= least_direct_bytes_per_rank &&
           ranks <= most_direct_ranks;
}

/// Whether this rank gets at the memory of all peers of the schedule's first part, in which every
/// rank sends to every other one.
bool reaches_all(const Schedule& schedule, const Channels& channels);

/// The program of an allreduce of `count` elements in the order of the ranks: the same association
/// as algorithm `ordered`, whose schedule this is and whose channels carry the addresses and the
/// news that a share is done. Synchronising. reaches_all() on every rank.
Program lower_directly(const Schedule& schedule, const Channels& channels, Rank rank, Rank ranks,
                       std::size_t count, std::size_t element_bytes);

}  // namespace trefoil
