// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: packed trees and routes, on tori that are whole or not.
#include <algorithm>

#include "algorithms/analysis/pipeline_pieces.hpp"
#include "algorithms/packing/builders.hpp"
#include "algorithms/packing/routed.hpp"
#include "algorithms/registry/entries.hpp"

namespace trefoil {

namespace {

using namespace table;
using enum Collective;

template <Collective collective, Trees trees>
Schedule build(const Torus& torus, Rank rank, const BuildOptions& options) {
    return build_packed(collective, torus, rank, options, trees);
}

template <Collective collective>
std::string refusal(const Torus& torus) {
    return packed_shape_refusal(collective, torus);
}

template <Collective collective, Trees trees>
double landing(const Torus& torus, const BuildOptions& options) {
    return packed_landing(collective, torus, options, trees);
}

template <Collective collective, Trees trees>
Block pieces(const Torus& torus, const CostModel& model, double vector_bytes, Block segments) {
    const PackedShape shape = packed_shape(collective, torus, trees);
    const int fill = shape.height * (collective == allreduce ? 2 : 1) - 1;
    return best_pieces(model, fill, vector_bytes * shape.time, shape.trees, segments,
                       collective == allreduce);
}

constexpr std::string_view source =
    "Tutte; Nash-Williams, 1961 and Edmonds, 1973; ForestColl, arXiv 2402.06787";
constexpr std::string_view every_network(Collective collective) {
    switch (most_packed_ranks(collective)) {
        case 256:
            return "every network up to 256 ranks";
        case 512:
            return "every network up to 512 ranks";
        default:
            return "every network up to 4096 ranks";
    }
}
/// Messages go to neighbours, through the port that is meant. On whole tori others have fewer
/// steps, and `packed` is there to be named; but where sizes differ, few trees are faster than
/// they. To price it for more ranks than 512 takes longer than to build it.
template <Collective collective, Trees trees = Trees::close>
constexpr Algorithm packed_entry(std::string_view summary, std::string_view paper = source) {
    Algorithm algorithm{
        .name = trees == Trees::few ? "few-trees" : "packed",
        .collective = collective,
        .summary = summary,
        .paper = paper,
        .shapes = every_network(collective),
        .traits = {.cost_class = CostClass::bandwidth,
                   .identical_results = true,
                   .steered = true,
                   .single_blocks = goes_by_routes(collective)},
        .selection = {.most_ranks = std::min<Rank>(512, most_packed_ranks(collective)),
                      .tori = trees == Trees::few ? Tori::unequal : Tori::not_whole},
        .shape_refusal = refusal<collective>,
        .builder = build<collective, trees>,
        .landing_vectors = landing<collective, trees>,
    };
    if (collective == allreduce || collective == bcast || collective == reduce) {
        algorithm.abilities.pieces = true;  // the others go block by block
        algorithm.best_pieces = pieces<collective, trees>;
    }
    return algorithm;
}

constexpr std::string_view flow = "Ford and Fulkerson, 1956";

constexpr Algorithm packed_table[] = {
    packed_entry<allreduce>("pipelines up and down trees that share out all links of any network"),
    packed_entry<allreduce, Trees::few>(
        "fewer packed trees, so fewer messages, if they come within a tenth of the bound"),
    packed_entry<reduce_scatter>("up trees to all ranks that load the links of any network evenly"),
    packed_entry<allgather>("down trees from all ranks that load the links of any network evenly"),
    packed_entry<bcast>("pipelines down trees that share no link, as many as any network has"),
    packed_entry<reduce>("pipelines up trees that share no link, as many as any network has"),
    packed_entry<gather>("block by block to the root, by ways that share out any network", flow),
    packed_entry<scatter>("block by block from the root, by ways that share out any network", flow),
    packed_entry<alltoall>("block by block, by ways that load the links of any network evenly",
                           "McMurchie and Ebeling, FPGA 1995: negotiated congestion"),
};

}  // namespace

std::span<const Algorithm> packed_entries() {
    return packed_table;
}

}  // namespace trefoil
