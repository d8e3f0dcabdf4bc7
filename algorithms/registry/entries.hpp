// SPDX-License-Identifier: BSD-3-Clause
// What the entries of the table of algorithms have in common: refusals, bounds, traits.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

// The table, a file for each family; algorithms() joins them in this order.
std::span<const Algorithm> allreduce_entries();
std::span<const Algorithm> reduce_scatter_allgather_entries();  ///< reduce_scatter and allgather
std::span<const Algorithm> butterfly_entries();                 ///< Bine's, for the three of them
std::span<const Algorithm> spanning_tree_entries();  ///< bcast, reduce, gather and scatter
std::span<const Algorithm> tree_entries();           ///< the same along trees
std::span<const Algorithm> alltoall_entries();       ///< alltoall
std::span<const Algorithm> alltoall_ring_entries();  ///< alltoall along rings
std::span<const Algorithm> scan_entries();           ///< scan and exscan
std::span<const Algorithm> neighbour_entries();      ///< exchanges with neighbours
std::span<const Algorithm> single_copy_entries();    ///< where ranks read each other's memory
std::span<const Algorithm> baseline_entries();       ///< what the papers compare with
std::span<const Algorithm> published_entries();      ///< what they publish, beaten by ours: by name
std::span<const Algorithm> packed_entries();         ///< trees on any network
std::span<const Algorithm> few_steps_entries();      ///< short vectors on any network

namespace table {

/// A builder without options as one that ignores them.
template <Schedule (*build)(const Torus&, Rank)>
Schedule without_options(const Torus& torus, Rank rank, const BuildOptions&) {
    return build(torus, rank);
}

// Refusals.
inline std::string every_torus(const Torus&) {
    return {};
}

// Bounds on what one rank receives from one peer through one port, in vectors.
inline double none(const Torus&, const BuildOptions&) {
    return 0;
}

/// Butterflies of whole vectors meet a peer once in each part. A reduce-scatter moves a block
/// between two ranks one way and once, and the allgather moves it back: together one vector at
/// most.
inline double one(const Torus&, const BuildOptions&) {
    return 1;
}

/// One of the two phases of an allreduce for which one() holds. Single-port variants have one part:
/// a neighbour hands on all blocks but one, a folded member its whole vector at once.
inline double half(const Torus&, const BuildOptions& options) {
    return options.single_port ? 1 : 0.5;
}

/// Both phases go the same way round, with half a vector in each, or a whole one.
inline double two_halves(const Torus& torus, const BuildOptions& options) {
    return 2 * half(torus, options);
}

inline double one_block(const Torus& torus, const BuildOptions&) {
    return 1.0 / torus.ranks();
}

/// half(), and a block that goes straight to its owner.
inline double half_and_a_block(const Torus& torus, const BuildOptions& options) {
    return half(torus, options) + one_block(torus, options);
}

inline double one_per_rank(const Torus& torus, const BuildOptions&) {
    return torus.ranks();
}

/// One vector per step in which the peer's dimension moves: ceil(log3 size) of the largest.
inline double ternary_steps(const Torus& torus, const BuildOptions&) {
    int most = 0;
    for (const Rank size : torus.sizes()) {
        int steps = 0;
        for (std::int64_t reached = 1; reached < size; reached *= 3) {
            ++steps;
        }
        most = std::max(most, steps);
    }
    return most;
}

// Traits.
/// Ranks add up windows that overlap, and associate them differently.
inline constexpr Traits windowed{CostClass::latency, false, false};
/// Groups of ranks that hold the same sum merge as wholes.
inline constexpr Traits nested{CostClass::latency, true, false};
/// Everything arrives separately and is reduced in rank order, or nothing is reduced.
inline constexpr Traits ordered{CostClass::latency, true, true};
/// Each block is reduced at one rank.
inline constexpr Traits scattered{CostClass::bandwidth, true, false};
/// The same in rank order.
inline constexpr Traits ordered_scattered{CostClass::bandwidth, true, true};

// Selection.
/// It runs where it is named, and the automatic choice never considers it.
inline constexpr Selection by_name_only{.most_ranks = 0};
/// Of the plain ring: bucket has its volume on one dimension and fewer steps on several.
inline constexpr Selection bucket_is_better{.most_ranks = 0};

}  // namespace table
}  // namespace trefoil
