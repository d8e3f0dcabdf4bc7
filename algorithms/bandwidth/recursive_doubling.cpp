// SPDX-License-Identifier: BSD-3-Clause
// recursive-doubling-b, recursive-halving, recursive-doubling: Rabenseifner's allreduce and its
// halves on any torus.
//
// In step s coordinate c exchanges half of what it holds with c xor 2^s: the nearest partner gets
// the most. 2D parts: D plain, D mirrored (c + 2^s becomes c - 2^s and vice versa), dimensions
// interleaved; ceil(log2 d) steps per dimension and phase, for odd d of d-1. In the reduce-scatter
// every rank sends (n-1)/n of the vector. On other than powers of two the partners that do not
// exist have stand-ins, odd rings are even ones with an extra coordinate, and the mirror is a
// reflection of the ring.
//
// Single-port: one plain part on all ranks in linear order, as published; what is not a power of
// two is folded in pairs.
#include <bit>
#include <memory>
#include <vector>

#include "algorithms/bandwidth/product_parts.hpp"
#include "algorithms/rings/fold_scatter.hpp"
#include "algorithms/rings/halving_ring.hpp"
#include "algorithms/rings/odd_ring.hpp"
#include "algorithms/schedule/by_size.hpp"

namespace trefoil {

namespace {

using Ring = std::shared_ptr<const RingScatter>;

Ring doubling_scatter(Rank size) {
    if (size > 1 && size % 2 == 1) {
        return std::make_shared<OddRing>(
            std::make_shared<HalvingRing>(Halving::doubling, size - 1));
    }
    return std::make_shared<HalvingRing>(Halving::doubling, size);
}

Ring doubling_mirror(const Ring& plain) {
    const Rank size = plain->size();
    if (std::has_single_bit(static_cast<std::uint32_t>(size))) {
        return std::make_shared<HalvingRing>(Halving::doubling_mirrored, size);
    }
    return mirrored(plain, size % 2 == 0 ? 0 : size - 1);
}

}  // namespace

std::vector<ProductPart> doubling_parts(const Torus& torus, Collective collective,
                                        const BuildOptions& options) {
    if (options.single_port) {
        return {first_part(by_size(torus, [&](Rank size) -> Ring {
            return std::make_shared<FoldScatter>(size, 2, collective != Collective::allreduce,
                                                 Halving::doubling);
        }))};
    }
    return interleaved_parts(by_size(torus, [](Rank size) -> RingPair {
        const Ring plain = doubling_scatter(size);
        return {plain, doubling_mirror(plain)};
    }));
}

}  // namespace trefoil
