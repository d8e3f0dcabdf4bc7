// SPDX-License-Identifier: BSD-3-Clause
// trivance-b: reduce-scatter and allgather in ceil(log3 d) steps per dimension each.
//
// Trivance (Juerss, Addanki, Schmid), bandwidth-optimal variant: the rings of
// algorithms/trivance/ring.hpp under the torus product rule. D parts, each using both ports of the
// dimension that moves; in step i part p moves the first unfinished dimension among (p+i)%D,
// (p+i+1)%D, ... Everyone sends 2(N-1)/N of the vector. Where a ring's tree sends more to one side
// than to the other, half of every part runs in a mirror; both halves have the same peers and
// travel in the same messages; in reduce_scatter and allgather, where a part has one block per
// rank, they are parts of their own.
#include <memory>
#include <vector>

#include "algorithms/bandwidth/product_parts.hpp"
#include "algorithms/schedule/long_dimensions.hpp"
#include "algorithms/trivance/builders.hpp"
#include "algorithms/trivance/halves.hpp"
#include "algorithms/trivance/ring.hpp"

namespace trefoil {

std::vector<ProductPart> trivance_parts(const Torus& torus) {
    const int dimensions = static_cast<int>(long_dimensions(torus).size());
    std::vector<std::shared_ptr<const RingScatter>> rings;
    std::vector<std::shared_ptr<const RingScatter>> mirror;
    bool balanced = true;
    for (const Rank size : torus.sizes()) {
        const TrivanceRing ring = trivance_ring(size, dimensions);
        rings.push_back(ring.scatter);
        mirror.push_back(mirrored(ring.scatter));
        balanced = balanced && ring.balanced;
    }
    std::vector<ProductPart> parts = interleaved_parts(rings, mirror);
    if (balanced && parts.size() > 1) {
        parts.resize(parts.size() / 2);
    }
    return parts;
}

Schedule build_trivance_b(const Torus& torus, Rank rank) {
    const std::vector<ProductPart> parts = trivance_parts(torus);
    const Schedule schedule = product_schedule(torus, rank, parts, Collective::allreduce);
    return parts.size() > long_dimensions(torus).size() && parts.size() > 1 ? join_halves(schedule)
                                                                            : schedule;
}

}  // namespace trefoil
