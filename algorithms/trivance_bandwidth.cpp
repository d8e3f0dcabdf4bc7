// SPDX-License-Identifier: BSD-3-Clause
// trivance-b: reduce-scatter and allgather in ceil(log3 d) steps per dimension each.
//
// Trivance (Juerss, Addanki, Schmid), bandwidth-optimal variant: the rings of
// algorithms/trivance_ring.hpp under the torus product rule. D parts, each using both ports of the
// dimension that moves; in step i part p moves the first unfinished dimension among (p+i)%D,
// (p+i+1)%D, ... Everyone sends 2(N-1)/N of the vector. Where a ring's tree sends more to one side
// than to the other, half of every part runs in a mirror; both halves have the same peers and
// travel in the same messages.
#include <memory>
#include <vector>

#include "algorithms/builders.hpp"
#include "algorithms/product.hpp"
#include "algorithms/trivance_dimensions.hpp"
#include "algorithms/trivance_halves.hpp"
#include "algorithms/trivance_ring.hpp"

namespace trefoil {

Schedule build_trivance_b(const Torus& torus, Rank rank) {
    const int dimensions = static_cast<int>(long_dimensions(torus).size());
    std::vector<std::shared_ptr<const RingScatter>> rings;
    bool balanced = true;
    for (const Rank size : torus.sizes()) {
        const TrivanceRing ring = trivance_ring(size, dimensions);
        rings.push_back(ring.scatter);
        balanced = balanced && ring.balanced;
    }
    std::vector<ProductPart> parts;
    const int count = dimensions > 0 ? dimensions : 1;
    for (int p = 0; p < count; ++p) {
        parts.push_back({rings, interleaved_order(rings, p)});
    }
    if (balanced) {
        return product_allreduce(torus, rank, parts);
    }
    for (auto& ring : rings) {
        ring = mirrored(ring);
    }
    for (int p = 0; p < count; ++p) {
        parts.push_back({rings, interleaved_order(rings, p)});
    }
    return join_halves(product_allreduce(torus, rank, parts));
}

}  // namespace trefoil
