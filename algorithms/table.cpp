// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms, as data.
#include <algorithm>

#include "algorithms/algorithm.hpp"
#include "algorithms/builders.hpp"

namespace trefoil {

namespace {

// Refusals.
std::string every_torus(const Torus&) {
    return {};
}

// Bounds on what one rank receives from one peer through one port, in vectors.
double none(const Torus&) {
    return 0;
}

/// Pairwise exchanges meet a peer once in each part. A reduce-scatter moves a block between two
/// ranks one way and once, and the allgather moves it back: together one vector at most. So does
/// the ring, with half a vector in each phase.
double one(const Torus&) {
    return 1;
}

double one_per_rank(const Torus& torus) {
    return torus.ranks();
}

/// One vector per step in which the peer's dimension moves: ceil(log3 size) of the largest.
double steps_of_a_dimension(const Torus& torus) {
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
constexpr Traits windowed{CostClass::latency, false, false};
/// Groups of ranks that hold the same sum merge as wholes.
constexpr Traits nested{CostClass::latency, true, false};
/// Everything arrives separately and is reduced in rank order, or nothing is reduced.
constexpr Traits ordered{CostClass::latency, true, true};
/// Each block is reduced at one rank.
constexpr Traits scattered{CostClass::bandwidth, true, false};

constexpr Algorithm table[] = {
    {
        .name = "trivance-l",
        .collective = Collective::allreduce,
        .summary = "three windows of ranks joined per step, whole vectors; about log3 p steps",
        .paper = "Juerss, Addanki and Schmid, Trivance",
        .shapes = "every torus",
        .traits = windowed,
        .refusal = every_torus,
        .build = build_trivance_l,
        .landing_vectors = steps_of_a_dimension,
    },
    {
        .name = "trivance-g",
        .collective = Collective::allreduce,
        .summary = "the same pattern as an allgather of contributions, reduced in rank order",
        .paper = "Juerss, Addanki and Schmid, Trivance, as an allgather",
        .shapes = "every torus",
        .traits = ordered,
        .refusal = every_torus,
        .build = build_trivance_g,
        .landing_vectors = one_per_rank,
    },
    {
        .name = "swing-l",
        .collective = Collective::allreduce,
        .summary = "exchanges of whole vectors with partners that swing both ways; log2 p steps",
        .paper = "De Sensi et al., Swing, NSDI 2024, section 3",
        .shapes = "every torus",
        .traits = windowed,
        .refusal = every_torus,
        .build = build_swing_l,
        .landing_vectors = one,
    },
    {
        .name = "recursive-doubling-l",
        .collective = Collective::allreduce,
        .summary = "exchanges of whole vectors at distances 1, 2, 4, ...; log2 p steps",
        .paper = "Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4.5",
        .shapes = "every torus",
        .traits = windowed,
        .refusal = every_torus,
        .build = build_recursive_doubling_l,
        .landing_vectors = one,
    },
    {
        .name = "recursive-doubling-i",
        .collective = Collective::allreduce,
        .summary = "as recursive-doubling-l with nested groups: identical results, more load",
        .paper = "Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4.5",
        .shapes = "every torus",
        .traits = nested,
        .refusal = every_torus,
        .build = build_recursive_doubling_i,
        .landing_vectors = one,
    },
    {
        .name = "trivance-b",
        .collective = Collective::allreduce,
        .summary = "reduce-scatter and allgather with two partners per step; 2 log3 p steps",
        .paper = "Juerss, Addanki and Schmid, Trivance",
        .shapes = "every torus",
        .traits = scattered,
        .refusal = every_torus,
        .build = build_trivance_b,
        .landing_vectors = one,
    },
    {
        .name = "swing-b",
        .collective = Collective::allreduce,
        .summary =
            "reduce-scatter and allgather with partners that swing both ways; 2 log2 p steps",
        .paper = "De Sensi et al., Swing, NSDI 2024, section 4",
        .shapes = "every torus",
        .traits = scattered,
        .refusal = every_torus,
        .build = build_swing_b,
        .landing_vectors = one,
    },
    {
        .name = "recursive-doubling-b",
        .collective = Collective::allreduce,
        .summary = "reduce-scatter and allgather at distances 1, 2, 4, ...; 2 log2 p steps",
        .paper = "Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4.5",
        .shapes = "every torus",
        .traits = scattered,
        .refusal = every_torus,
        .build = build_recursive_doubling_b,
        .landing_vectors = one,
    },
    {
        .name = "bucket",
        .collective = Collective::allreduce,
        .summary = "a ring per dimension, one dimension after the other; least load, many steps",
        .paper = "Sack and Gropp, ACM TOPC 2015, section 4",
        .shapes = "every torus",
        .traits = scattered,
        .refusal = every_torus,
        .build = build_bucket,
        .landing_vectors = one,
    },
    {
        .name = "ring",
        .collective = Collective::allreduce,
        .summary = "one ring through all ranks, both ways round; 2(p-1) steps",
        .paper = "Patarasuk and Yuan, JPDC 2009",
        .shapes = "every torus",
        .traits = scattered,
        .refusal = every_torus,
        .build = build_ring,
        .landing_vectors = one,
    },
    {
        .name = "dissemination",
        .collective = Collective::barrier,
        .summary = "signals to the ranks 1, 2, 4, ... further; log2 p steps",
        .paper = "Hensgen, Finkel and Manber, IJPP 1988",
        .shapes = "every torus",
        .traits = ordered,
        .refusal = every_torus,
        .build = build_barrier,
        .landing_vectors = none,
    },
};

}  // namespace

std::span<const Algorithm> algorithms() {
    return table;
}

}  // namespace trefoil
