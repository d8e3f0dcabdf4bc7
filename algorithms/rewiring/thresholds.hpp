// SPDX-License-Identifier: BSD-3-Clause
// Recursive halving and doubling on a ring that is short-circuited from some step on: closed sums.
//
// Hammer, Schmid, Singh and Addanki, "Short-circuiting Rings for Low-Latency AllReduce"
// (arXiv 2510.03491). n = 2^s nodes; step k of the reduce-scatter pairs x with x XOR 2^k, and each
// sends 1/2^(k+1) of the vector. M: seconds of the whole vector on one link.
//
//     (1) on the ring     t_k = alpha + 2^k hop + M/2
//     (2) all on the ring s alpha + (n-1) hop + s M/2
//     (3) Ring            (n-1) (alpha + hop + M/n)
//         on circuits     u_k = alpha + hop + M/2^(k+1)
//     (4) reduce-scatter  sum of t_k for k < T, of change + u_k for k >= T
//     (5) allgather       the same, backwards
//
// T = s never changes the wiring, T = 1 before every step but the first, which joins neighbours.
#pragma once

#include <cstdint>

#include "algorithms/rewiring/step_legs.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Phases of an allreduce, and both.
enum class Phase : std::uint8_t { reduce_scatter, allgather, allreduce };

struct ThresholdModel {
    Rank nodes = 2;  ///< a power of two
    double alpha = 0;
    double hop = 0;
    double vector = 0;  ///< M, seconds
    double change = 0;  ///< seconds of each change of wiring, a barrier before it included
    /// Plain and mirrored halves together use both ports: half of M everywhere, also for Ring.
    bool mirrored = false;
    /// The last step's partners are n/2 apart, as far one way round as the other. (1) lets all
    /// bytes go one way; both ways, the step takes M/4. (Mirrored halves share the ways in either
    /// case.)
    Tie tie = Tie::one;
    /// The ring must be there again in the end.
    bool give_back = false;
};

/// 2^k = model.nodes. Throws Error(unsupported) when there is no such k: the sums are for powers of
/// two.
int threshold_steps(const ThresholdModel& model);

/// t_k and u_k.
double ring_step(const ThresholdModel& model, int step);
double circuit_step(const ThresholdModel& model, int step);

/// (3); of an allreduce, twice.
double ring_algorithm(const ThresholdModel& model, Phase phase);

/// (4), (5) and their sum, and what the formulas leave out: an allgather gets its ring back by one
/// more change when 0 < T < s. In an allreduce the phases meet on the same circuits, which saves
/// one. `threshold`: 0 to s.
double threshold_seconds(const ThresholdModel& model, Phase phase, int threshold);

struct Threshold {
    int steps = 0;  ///< T, 1 to s; of equally good ones the largest, which changes least
    double seconds = 0;
    double ring = 0;  ///< (3)
    /// No T is better than Ring, so that Ring runs.
    bool falls_back() const { return ring <= seconds; }
    double with_fallback() const { return falls_back() ? ring : seconds; }
};

/// The best of all T.
Threshold best_threshold(const ThresholdModel& model, Phase phase);

/// The closed form for a reduce-scatter with Tie::one: the first k >= 1 with (2^k - 1) hop +
/// (M/2)(1 - 2^-k) > change, else s. The left side grows with k, so no T is better.
int closed_threshold(const ThresholdModel& model);

/// Below this change, T = 1 beats Ring whatever the size of the vector: (alpha + hop) (n - 1 - s) /
/// (s - 1). Nodes: 4 or more.
double change_that_pays_at_any_size(const ThresholdModel& model);

}  // namespace trefoil
