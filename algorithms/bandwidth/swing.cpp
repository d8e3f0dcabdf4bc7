// SPDX-License-Identifier: BSD-3-Clause
// swing-b, swing, swing-published: Swing's bandwidth-optimal allreduce (De Sensi et al., NSDI 2024,
// sections 3 and 4) and its halves on any torus.
//
// In step s coordinate c exchanges with c + rho(s) (even c) or c - rho(s) (odd c) half of what it
// holds, with rho(s) = (1 - (-2)^(s+1)) / 3 = 1, -1, 3, -5, 11, ...
//
//     step 0   0---1   2---3   4---5   6---7      1/2 of the vector
//     step 1 --0   1---2   3---4   5---6   7--    1/4
//     step 2   0-----------3   4-----------7 ...  1/8
//
// 2D parts: D plain, D mirrored, dimensions interleaved; ceil(log2 d) steps per dimension and phase
// (2^k + 1 coordinates: k). In the reduce-scatter every rank sends (n-1)/n of the vector; on even
// sizes in the allgather, too, while next to the odd one of odd sizes some send more, some less.
// The mirror is chosen such that the first steps of plain and mirrored parts use different links:
// x -> -x on even rings, x -> -1-x on odd ones.
//
// swing-published has what the paper has for odd sizes (published_odd_ring.hpp), in 2D parts.
//
// Single-port: one plain part. On odd sizes, where Swing's extra coordinate would exchange with
// several others in a step, pairs of neighbours fold instead.
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/bandwidth/product_parts.hpp"
#include "algorithms/rings/fold_scatter.hpp"
#include "algorithms/rings/halving_ring.hpp"
#include "algorithms/rings/odd_ring.hpp"
#include "algorithms/rings/published_odd_ring.hpp"
#include "algorithms/rings/swing_ring.hpp"
#include "algorithms/schedule/by_size.hpp"

namespace trefoil {

namespace {

bool is_power_of_two(Rank size) {
    return std::has_single_bit(static_cast<std::uint32_t>(size));
}

std::shared_ptr<const RingScatter> swing_mirror(std::shared_ptr<const RingScatter> plain) {
    const Rank size = plain->size();
    return mirrored(std::move(plain), size % 2 == 0 ? 0 : size - 1);
}

RingPair swing_pair(Rank size) {
    const std::shared_ptr<const RingScatter> plain = swing_scatter(size);
    return {plain, swing_mirror(plain)};
}

std::shared_ptr<const RingScatter> single_port_scatter(Rank size, Collective collective) {
    if (size % 2 == 0 || size == 1) {
        return swing_scatter(size);
    }
    return std::make_shared<FoldScatter>(size, 2, collective != Collective::allreduce);
}

}  // namespace

std::shared_ptr<const RingScatter> swing_scatter(Rank size) {
    if (is_power_of_two(size)) {
        return std::make_shared<HalvingRing>(Halving::swing, size);
    }
    if (is_power_of_two(size - 1)) {
        return std::make_shared<OddRing>(std::make_shared<HalvingRing>(Halving::swing, size - 1));
    }
    if (is_power_of_two(size + 1)) {
        // What SwingRing does here, too; but all that is held is a cell: one extent per message.
        return std::make_shared<HalvingRing>(Halving::swing, size);
    }
    return std::make_shared<SwingRing>(size);
}

std::vector<ProductPart> two_transmission_parts(const Torus& torus) {
    ProductPart plain;
    ProductPart mirror;
    for (int j = 0; j < torus.dimensions(); ++j) {
        const Rank size = torus.size(j);
        plain.rings.push_back(std::make_shared<SwingRing>(size, SwingRing::Distance::halving));
        mirror.rings.push_back(swing_mirror(plain.rings.back()));
        plain.order.insert(plain.order.end(), plain.rings.back()->steps(), j);
    }
    mirror.order = plain.order;
    return {plain, mirror};
}

std::vector<ProductPart> published_swing_parts(const Torus& torus) {
    return interleaved_parts(by_size(torus, [](Rank size) {
        const bool even = size % 2 == 0 || size == 1;
        RingPair pair = swing_pair(even ? size : size - 1);
        if (!even) {
            using Order = PublishedOddRing::Order;
            pair = {std::make_shared<PublishedOddRing>(pair.plain, Order::ascending),
                    std::make_shared<PublishedOddRing>(pair.mirror, Order::descending)};
        }
        return pair;
    }));
}

std::vector<ProductPart> swing_parts(const Torus& torus, Collective collective,
                                     const BuildOptions& options) {
    if (options.layout == Layout::two_transmissions) {
        std::vector<ProductPart> both = two_transmission_parts(torus);
        both.resize(options.single_port ? 1 : both.size());
        return both;
    }
    if (options.single_port) {
        return {first_part(
            by_size(torus, [&](Rank size) { return single_port_scatter(size, collective); }))};
    }
    return interleaved_parts(by_size(torus, swing_pair));
}

}  // namespace trefoil
