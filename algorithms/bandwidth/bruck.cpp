// SPDX-License-Identifier: BSD-3-Clause
// bruck-b, bruck: reduce-scatter and allgather along the base-3 digits of distances, on any torus.
//
// Bruck, Ho, Kipnis, Upfal and Weathersby, IEEE TPDS 8(11), 1997, with radix 3, each dimension a
// ring of its own; the reduce-scatter is the allgather backwards. In step k coordinate c sends to
// c + 3^k and c + 2*3^k what lies there and a multiple of 3^(k+1) further: ceil(log3 d) steps per
// dimension and phase, (n-1)/n of the vector sent by everyone in each phase. D parts, dimensions
// interleaved. This is the baseline of the Trivance paper: its peers are all on one side, so that
// nearly all goes one way round, about 4 times the least load of a large 2-D torus where Trivance,
// with peers on both sides, needs 1.33.
#include <memory>

#include "algorithms/bandwidth/product_parts.hpp"
#include "algorithms/rings/digit_ring.hpp"
#include "algorithms/schedule/by_size.hpp"

namespace trefoil {

std::vector<ProductPart> bruck_parts(const Torus& torus) {
    std::vector<ProductPart> parts = interleaved_parts(by_size(torus, [](Rank size) -> RingPair {
        const auto ring = std::make_shared<DigitRing>(size, 3);
        return {ring, ring};
    }));
    parts.resize((parts.size() + 1) / 2);  // without the mirrored ones
    return parts;
}

}  // namespace trefoil
