// SPDX-License-Identifier: BSD-3-Clause
// trivance-b: reduce-scatter and allgather in ceil(log3 d) steps per dimension each.
//
// Trivance (Juerss, Addanki, Schmid), bandwidth-optimal variant: the rings of
// algorithms/trivance/ring.hpp under the torus product rule. D parts or more, each using both ports
// of the dimension that moves, in orders of the dimensions that load all of them alike
// (algorithms/trivance/orders.hpp). Everyone sends 2(N-1)/N of the vector. Where a ring's tree
// sends more to one side than to the other, half of every part runs in a mirror; both halves have
// the same peers and travel in the same messages; in reduce_scatter and allgather, where a part has
// one block per rank, they are parts of their own.
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/bandwidth/product_parts.hpp"
#include "algorithms/schedule/long_dimensions.hpp"
#include "algorithms/trivance/builders.hpp"
#include "algorithms/trivance/halves.hpp"
#include "algorithms/trivance/orders.hpp"
#include "algorithms/trivance/ring.hpp"

namespace trefoil {

namespace {

struct Rings {
    std::vector<std::shared_ptr<const RingScatter>> plain;
    bool balanced = true;  ///< no half in a mirror is needed
};

Rings rings_of(const Torus& torus) {
    const int dimensions = static_cast<int>(long_dimensions(torus).size());
    Rings rings;
    for (const Rank size : torus.sizes()) {
        const TrivanceRing ring = trivance_ring(size, dimensions);
        rings.plain.push_back(ring.scatter);
        rings.balanced = rings.balanced && ring.balanced;
    }
    return rings;
}

/// The parts of all orders, then their mirrored halves, if need be.
std::vector<ProductPart> parts_of(const Torus& torus, const Rings& rings) {
    std::vector<ProductPart> parts;
    for (std::vector<int>& order : trivance_orders(torus)) {
        parts.push_back({rings.plain, std::move(order)});
    }
    const std::size_t pairs = rings.balanced ? 0 : parts.size();
    for (std::size_t p = 0; p < pairs; ++p) {
        ProductPart half = parts[p];
        for (std::shared_ptr<const RingScatter>& ring : half.rings) {
            ring = mirrored(ring);
        }
        parts.push_back(std::move(half));
    }
    return parts;
}

}  // namespace

std::vector<ProductPart> trivance_parts(const Torus& torus) {
    return parts_of(torus, rings_of(torus));
}

Schedule build_trivance_b(const Torus& torus, Rank rank, const BuildOptions& options) {
    const Rings rings = rings_of(torus);
    const Schedule schedule =
        product_schedule(torus, rank, parts_of(torus, rings), Collective::allreduce, options.layout,
                         options.sizes_only);
    return rings.balanced ? schedule : join_halves(schedule);
}

}  // namespace trefoil
