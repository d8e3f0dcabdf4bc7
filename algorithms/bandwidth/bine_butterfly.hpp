// SPDX-License-Identifier: BSD-3-Clause
// The butterflies of Bine: reduce_scatter, allgather and allreduce as both.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/bandwidth/product.hpp"
#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

enum class Butterfly : std::uint8_t {
    doubling,  ///< distances that grow, Swing's: nearest partners exchange the largest messages
    halving,   ///< distances that shrink: what is held are neighbours around the ring
    fold       ///< doubling among the centres of groups, whose number is a power of two
};

/// bine-torus-dh: distances that shrink, one part, the dimensions of the torus in turn.
std::vector<ProductPart> bine_torus_halving_parts(const Torus& torus, Collective collective,
                                                  const BuildOptions& options);

/// The parts for `collective`; `options.single_port`: one part for the ring of all ranks in linear
/// order, whatever the torus.
std::vector<ProductPart> butterfly_parts(Butterfly butterfly, const Torus& torus,
                                         Collective collective, const BuildOptions& options);

/// An Algorithm::builder and its owners, for reduce_scatter, allgather and allreduce.
Schedule build_butterfly(Butterfly butterfly, const Torus& torus, Rank rank, Collective collective,
                         const BuildOptions& options);
std::vector<Rank> butterfly_owners(Butterfly butterfly, const Torus& torus, Collective collective,
                                   const BuildOptions& options, int part);

}  // namespace trefoil
