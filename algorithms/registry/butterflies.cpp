// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: Bine's butterflies for allreduce, reduce_scatter and allgather.
#include "algorithms/bandwidth/bine_butterfly.hpp"
#include "algorithms/latency/builders.hpp"
#include "algorithms/registry/alike.hpp"
#include "algorithms/registry/entries.hpp"

namespace trefoil {

namespace {

using namespace table;

template <Butterfly butterfly, Collective collective>
Schedule build(const Torus& torus, Rank rank, const BuildOptions& options) {
    return build_butterfly(butterfly, torus, rank, collective, options);
}

template <Butterfly butterfly, Collective collective>
ProductFlows flows(const Torus& torus) {
    return product_flows(torus, butterfly_parts(butterfly, torus, collective, {}), collective);
}

template <Butterfly butterfly, Collective collective>
std::vector<Rank> owners(const Torus& torus, const BuildOptions& options, int part) {
    return butterfly_owners(butterfly, torus, collective, options, part);
}

template <Butterfly butterfly, Collective collective>
constexpr Algorithm entry(std::string_view name, std::string_view summary) {
    constexpr bool per_rank_blocks = collective != Collective::allreduce;
    constexpr bool layouts = per_rank_blocks && butterfly == Butterfly::doubling;
    constexpr bool halves = per_rank_blocks && butterfly != Butterfly::fold;
    return {
        .name = name,
        .collective = collective,
        .summary = summary,
        .paper =
            "De Sensi et al., Bine trees, SC 2025, section 4; sizes other than powers of two: own",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.layouts = layouts, .single_port = true},
        .shape_refusal = every_torus,
        .builder = build<butterfly, collective>,
        .landing_vectors = layouts  ? half_and_a_block
                           : halves ? half
                                    : one,
        .owners = per_rank_blocks ? owners<butterfly, collective> : nullptr,
        .alike = butterfly == Butterfly::fold ? by_parity_of_powers : by_parity,
        .witnesses = axes_of_powers,
        .flows = flows<butterfly, collective>,
    };
}

constexpr Algorithm butterflies_table[] = {
    {
        .name = "bine-small",
        .collective = Collective::allreduce,
        .summary = "Bine butterfly of whole vectors, distances 1, 1, 3, 5, 11, ...; log2 p steps",
        .paper =
            "De Sensi et al., Bine trees, SC 2025, section 4; sizes other than powers of two: own",
        .shapes = "every torus",
        .traits = windowed,
        .abilities = {.single_port = true},
        .shape_refusal = every_torus,
        .builder = build_bine_small,
        .landing_vectors = one,
        .alike = by_parity_of_powers,
        .witnesses = axes_of_powers,
        .flows = swing_l_flows,
    },
    entry<Butterfly::doubling, Collective::allreduce>(
        "bine-large", "Bine reduce-scatter, distances that grow, and allgather; 2 log2 p steps"),
    entry<Butterfly::fold, Collective::allreduce>(
        "bine-fold", "bine-large among as many groups of neighbours as a power of two"),
    entry<Butterfly::doubling, Collective::reduce_scatter>(
        "bine", "halves exchanged at Bine distances 1, 1, 3, 5, 11, ...; log2 p steps"),
    entry<Butterfly::halving, Collective::reduce_scatter>(
        "bine-dh", "halves exchanged at Bine distances ..., 11, 5, 3, 1, 1; log2 p steps"),
    entry<Butterfly::fold, Collective::reduce_scatter>(
        "bine-fold", "bine among as many groups of neighbours as a power of two"),
    entry<Butterfly::doubling, Collective::allgather>(
        "bine", "all that is held exchanged at distances ..., 11, 5, 3, 1, 1; log2 p steps"),
    entry<Butterfly::halving, Collective::allgather>(
        "bine-dh", "all that is held exchanged at distances 1, 1, 3, 5, 11, ...; log2 p steps"),
    entry<Butterfly::fold, Collective::allgather>(
        "bine-fold", "bine among as many groups of neighbours as a power of two"),
};

}  // namespace

std::span<const Algorithm> butterfly_entries() {
    return butterflies_table;
}

}  // namespace trefoil
