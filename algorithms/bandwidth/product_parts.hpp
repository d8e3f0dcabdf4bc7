// SPDX-License-Identifier: BSD-3-Clause
// The algorithms that are ring reduce-scatters under the torus product rule: their parts, and what
// the table of algorithms needs of them in each collective.
#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include "algorithms/bandwidth/product.hpp"
#include "algorithms/schedule/algorithm.hpp"
#include "algorithms/schedule/single_port.hpp"

namespace trefoil {

// The parts of an algorithm on a torus, for allreduce, reduce_scatter and allgather alike.
std::vector<ProductPart> swing_parts(const Torus& torus, Collective collective,
                                     const BuildOptions& options);
std::vector<ProductPart> published_swing_parts(const Torus& torus);
std::vector<ProductPart> doubling_parts(const Torus& torus, Collective collective,
                                        const BuildOptions& options);
std::vector<ProductPart> bucket_parts(const Torus& torus, Collective collective,
                                      const BuildOptions& options);
/// What bucket does to the links of a torus of rings, each rank a node.
LinkSteps bucket_link_steps(const Torus& torus, Collective collective);
std::vector<ProductPart> bruck_parts(const Torus& torus);

/// Swing's reduce-scatter on a ring of any size, plain; the mirror: swing_parts().
std::shared_ptr<const RingScatter> swing_scatter(Rank size);

/// Layout::two_transmissions, for Swing and Bine alike: their partners with distances that shrink,
/// one dimension after the other in ascending order. In rank order a message is a run of neighbours
/// in one dimension, with the whole of all later and one coordinate of all earlier dimensions: at
/// most two extents. A plain and a mirrored part; other orders of dimensions have more extents.
std::vector<ProductPart> two_transmission_parts(const Torus& torus);

template <auto parts>
std::vector<ProductPart> parts_with(const Torus& torus, [[maybe_unused]] Collective collective,
                                    [[maybe_unused]] const BuildOptions& options) {
    if constexpr (std::is_invocable_v<decltype(parts), const Torus&>) {
        return parts(torus);
    } else {
        return parts(torus, collective, options);
    }
}

/// An Algorithm::builder.
template <auto parts, Collective collective>
Schedule build_product(const Torus& torus, Rank rank, const BuildOptions& options) {
    return product_schedule(torus, rank, parts_with<parts>(torus, collective, options), collective,
                            options.layout, options.sizes_only);
}

/// An Algorithm::flows.
template <auto parts, Collective collective>
ProductFlows flows_of_product(const Torus& torus) {
    return product_flows(torus, parts_with<parts>(torus, collective, {}), collective);
}

/// An Algorithm::link_steps.
template <Collective collective>
LinkSteps links_of_bucket(const Torus& torus) {
    return bucket_link_steps(torus, collective);
}

/// An Algorithm::owners, alike for reduce_scatter and allgather.
template <auto parts>
std::vector<Rank> owners_of_product(const Torus& torus, const BuildOptions& options, int part) {
    return product_owners(
        torus, parts_with<parts>(torus, Collective::reduce_scatter, options)[part], options.layout);
}

// The same where the single-port variant runs on all ranks in linear order.
template <auto parts, Collective collective>
Schedule build_product_in_line(const Torus& torus, Rank rank, const BuildOptions& options) {
    if (!options.single_port) {
        return build_product<parts, collective>(torus, rank, options);
    }
    return through_first_ports(torus,
                               build_product<parts, collective>(line_of(torus), rank, options));
}

template <auto parts>
std::vector<Rank> owners_in_line(const Torus& torus, const BuildOptions& options, int part) {
    return owners_of_product<parts>(line_if(options.single_port, torus), options, part);
}

}  // namespace trefoil
