// SPDX-License-Identifier: BSD-3-Clause
// Schedules of few steps as algorithms, which are asked for one rank's schedule after the other.
#pragma once

#include <string>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// More ranks would take longer than a second to set up.
inline constexpr Rank most_few_step_ranks = 256;

/// Of allreduce, bcast and reduce; of allgather and reduce_scatter.
std::string few_step_refusal(const Torus& torus);
std::string few_step_exchange_refusal(Collective collective, const Torus& torus);

/// An Algorithm::landing_vectors of allreduce; that of the others is 1.
double few_step_landing(const Torus& torus, const BuildOptions& options);

/// What was found for one rank is kept for the others. Thread-safe.
Schedule build_few_steps(Collective collective, const Torus& torus, Rank rank,
                         const BuildOptions& options);

}  // namespace trefoil
