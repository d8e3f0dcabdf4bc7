// SPDX-License-Identifier: BSD-3-Clause
// bine, bine-large, bine-dh, bine-torus-dh, bine-fold: the butterflies of De Sensi et al., Bine
// trees, SC 2025, section 4, under the torus product rule.
//
// doubling: Swing's rings. Blocks are numbered as the steps cut them, Bine's permutation: one
// extent per message where all sizes are powers of two.
// halving: the same partners in the opposite order, and on a torus the interleaved order backwards.
// What a rank holds is a run of neighbours in every dimension: at most two extents on a ring.
// fold: any size over a power of two; what a member has travels whole to the centre of its group
// (and back in the allgather), so more is sent than by the others.
//
// Single-port: the ring of all ranks in linear order. There odd sizes are folded in pairs, because
// doubling and halving would let somebody receive two messages in a step (as two-transmissions
// does). bine-torus-dh is the paper's variant for tori (Appendix D): the dimensions in turn, one
// part. With distances that grow that is swing:single-port.
#include "algorithms/bandwidth/bine_butterfly.hpp"

#include <algorithm>

#include "algorithms/bandwidth/product_parts.hpp"
#include "algorithms/rings/fold_scatter.hpp"
#include "algorithms/rings/swing_ring.hpp"
#include "algorithms/schedule/by_size.hpp"
#include "algorithms/schedule/single_port.hpp"

namespace trefoil {

namespace {

RingPair fold_rings(Rank size, int largest, Collective collective) {
    const auto plain =
        std::make_shared<FoldScatter>(size, largest, collective != Collective::allreduce);
    return {plain, mirrored(plain, plain->ring().reflected(0))};
}

RingPair rings(Butterfly butterfly, Rank size, Collective collective) {
    if (butterfly == Butterfly::fold) {
        return fold_rings(size, 3, collective);
    }
    const std::shared_ptr<const RingScatter> plain =
        butterfly == Butterfly::doubling
            ? swing_scatter(size)
            : std::make_shared<SwingRing>(size, SwingRing::Distance::halving);
    return {plain, mirrored(plain, size % 2 == 0 ? 0 : size - 1)};
}

std::vector<ProductPart> part_in_line(Butterfly butterfly, Rank ranks, Collective collective) {
    const bool folds = butterfly == Butterfly::fold || (ranks % 2 != 0 && ranks > 1);
    const RingPair ring =
        folds ? fold_rings(ranks, 2, collective) : rings(butterfly, ranks, collective);
    return {first_part({ring.plain})};
}

}  // namespace

std::vector<ProductPart> bine_torus_halving_parts(const Torus& torus, Collective collective,
                                                  const BuildOptions&) {
    ProductPart part = first_part(by_size(torus, [&](Rank size) {
        const bool folds = size % 2 != 0 && size > 1;
        return folds ? fold_rings(size, 2, collective).plain
                     : rings(Butterfly::halving, size, collective).plain;
    }));
    std::reverse(part.order.begin(), part.order.end());
    return {part};
}

std::vector<ProductPart> butterfly_parts(Butterfly butterfly, const Torus& torus,
                                         Collective collective, const BuildOptions& options) {
    if (options.layout == Layout::two_transmissions) {
        const Torus shape = line_if(options.single_port, torus);
        std::vector<ProductPart> both = two_transmission_parts(shape);
        both.resize(options.single_port ? 1 : both.size());
        return both;
    }
    if (options.single_port) {
        return part_in_line(butterfly, torus.ranks(), collective);
    }
    std::vector<ProductPart> parts = interleaved_parts(
        by_size(torus, [&](Rank size) { return rings(butterfly, size, collective); }));
    if (butterfly == Butterfly::halving) {
        for (ProductPart& part : parts) {
            std::reverse(part.order.begin(), part.order.end());
        }
    }
    return parts;
}

Schedule build_butterfly(Butterfly butterfly, const Torus& torus, Rank rank, Collective collective,
                         const BuildOptions& options) {
    Schedule schedule = product_schedule(line_if(options.single_port, torus), rank,
                                         butterfly_parts(butterfly, torus, collective, options),
                                         collective, options.layout, options.sizes_only);
    return options.single_port ? through_first_ports(torus, std::move(schedule)) : schedule;
}

std::vector<Rank> butterfly_owners(Butterfly butterfly, const Torus& torus, Collective collective,
                                   const BuildOptions& options, int part) {
    return product_owners(line_if(options.single_port, torus),
                          butterfly_parts(butterfly, torus, collective, options)[part],
                          options.layout);
}

}  // namespace trefoil
