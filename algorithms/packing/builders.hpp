// SPDX-License-Identifier: BSD-3-Clause
// Packed trees as algorithms, which are asked for one rank's schedule after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "algorithms/packing/packed.hpp"
#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// Trees and ways for more would take longer than a second.
constexpr Rank most_packed_ranks(Collective collective) {
    switch (collective) {
        case Collective::allreduce:
        case Collective::bcast:
        case Collective::reduce:
            return 4096;
        case Collective::alltoall:
            return 256;
        default:
            return 512;
    }
}

std::string packed_shape_refusal(Collective collective, const Torus& torus);

/// How many trees an allreduce has: as many as come close to the bound, or fewer
/// (few_trees_are_close).
enum class Trees : std::uint8_t { close, few };

// The last few trees are kept, and of allgather and reduce_scatter the schedules of all ranks.
// Thread-safe.
Schedule build_packed(Collective collective, const Torus& torus, Rank rank,
                      const BuildOptions& options, Trees trees = Trees::close);
double packed_landing(Collective collective, const Torus& torus, const BuildOptions& options,
                      Trees trees = Trees::close);
/// Of those from root 0: how high the highest tree is, how many trees, and what the busiest link
/// carries.
struct PackedShape {
    int height = 0;
    int trees = 0;
    double time = 0;
};
PackedShape packed_shape(Collective collective, const Torus& torus, Trees trees);

}  // namespace trefoil
