// SPDX-License-Identifier: BSD-3-Clause
// Packed trees as algorithms, which are asked for one rank's schedule after the other.
#pragma once

#include <memory>
#include <string>

#include "algorithms/packing/packed.hpp"
#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// More ranks would take longer than a second to set up.
inline constexpr Rank most_packed_ranks = 512;
inline constexpr Rank most_packed_alltoall_ranks = 256;

std::string packed_shape_refusal(const Torus& torus);
std::string packed_alltoall_refusal(const Torus& torus);

// Trees and schedules are those of all ranks at once; the last few are kept. Thread-safe.
Schedule build_packed(Collective collective, const Torus& torus, Rank rank,
                      const BuildOptions& options);
double packed_landing(Collective collective, const Torus& torus, const BuildOptions& options);
/// Of those from root 0: how high the highest tree is, how many trees, and what the busiest link
/// carries.
struct PackedShape {
    int height = 0;
    int trees = 0;
    double time = 0;
};
PackedShape packed_shape(Collective collective, const Torus& torus);

}  // namespace trefoil
