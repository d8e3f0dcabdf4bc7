// SPDX-License-Identifier: BSD-3-Clause
// Where reading each other's memory pays, and in which pieces: figures for algorithms with the
// trait reads_peers.
#pragma once

#include <cstddef>
#include <string>

#include "algorithms/schedule/algorithm.hpp"
#include "comm/plan/request.hpp"

namespace trefoil {

/// With less for each of more than two ranks, rounds of messages to all cost more than copying
/// through landing slots does.
inline constexpr std::size_t least_single_copy_bytes_per_rank = std::size_t{16} << 10;
/// A rank reads from all others, so beyond this many there is too little left of each share.
inline constexpr Rank most_single_copy_ranks = 64;

/// What all ranks can read of all others.
struct PeerAccess {
    bool vectors = false;  ///< their memory, whatever lies there
    bool images = false;   ///< what they show in shared memory
    bool any() const { return vectors || images; }
    /// Such an algorithm reads nothing else.
    bool suffices(const Traits& traits) const {
        return !traits.reads_peers || (traits.by_image ? images : vectors);
    }
};

/// "": ranks may read each other's memory in such a call. Else why not: who reads must know how
/// much.
std::string single_copy_refusal(const Request& request);

/// Who copies from a peer's memory: a thread of the same process by itself, a process by the
/// kernel.
enum class CopiesBy : std::uint8_t { address, kernel };

/// What auto takes, if the ranks get at each other's memory and the call allows it; null: nothing
/// that reads peers. `bytes`: of the whole vector.
const Algorithm* gaining_single_copy(Collective collective, std::size_t bytes, Rank ranks,
                                     CopiesBy by);
/// The same of what ranks can read.
const Algorithm* gaining_reader(Collective collective, std::size_t bytes, Rank ranks,
                                const PeerAccess& access, CopiesBy by);

/// What is reduced at a time from all ranks' vectors, so that the sum stays in the first-level
/// cache. The transport's copies are calls, so they are long, but not longer than what the
/// second-level cache holds of two.
inline constexpr std::size_t addressed_chunk_bytes = std::size_t{32} << 10;
inline constexpr std::size_t copied_chunk_bytes = std::size_t{256} << 10;

/// A segment has a share of this many bytes for each rank. Two segments run at a time, so the
/// shares that a rank has reduced are still in its second-level cache when its peers read them;
/// larger ones come from memory, smaller ones spend more on their three rounds of signals.
inline constexpr std::size_t segment_share_bytes = std::size_t{256} << 10;

/// The same by images, which have to stay in a cache for all to read: of a reduction's shares, and
/// of what ranks just copy.
inline constexpr std::size_t shown_share_bytes = std::size_t{128} << 10;
inline constexpr std::size_t shown_block_bytes = std::size_t{1} << 20;

/// A vector cut so: all segments have `elements`, but for the last. They begin at cache lines of
/// vectors that do.
struct ShareSegments {
    std::size_t count = 0, elements = 0;
};
ShareSegments segments_of_shares(std::size_t elements, std::size_t element_bytes, Rank ranks,
                                 std::size_t share_bytes);

}  // namespace trefoil
