// SPDX-License-Identifier: BSD-3-Clause
// The kinds of alltoall on a ring that there are, and one of each by kind and size.
#pragma once

#include <cstdint>
#include <memory>

#include "algorithms/alltoall/ring_alltoall.hpp"

namespace trefoil {

/// How blocks travel on the ring.
enum class RingKind : std::uint8_t {
    tree,           ///< gather-scatter trees, both ways round at once
    tree_one_port,  ///< gather-scatter trees; one message sent and one received in a step
    passed_on,      ///< from neighbour to neighbour, both ways round
    digits,         ///< signed digits of some radix
    direct,         ///< all pairs straight to their targets in one step
    bine            ///< Bine's butterfly; the size must be a power of two
};

/// Trees are tables, of more than size^2 entries: 0.3 GB at 1024. Larger ones are not to be asked
/// for.
inline constexpr Rank largest_tree_ring = 1024;

/// The ring of `kind`; `radix` >= 2 is for digits alone. Tables are kept. Thread-safe.
std::shared_ptr<const RingAlltoall> ring_alltoall(RingKind kind, Rank size, int radix = 2);

}  // namespace trefoil
