// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: variants as their papers have them, where Trefoil has a better one of
// its own. They are there to compare with and run only where they are named.
#include <algorithm>
#include <vector>

#include "algorithms/analysis/pipeline_pieces.hpp"
#include "algorithms/bandwidth/bine_butterfly.hpp"
#include "algorithms/bandwidth/product_parts.hpp"
#include "algorithms/latency/builders.hpp"
#include "algorithms/registry/alike.hpp"
#include "algorithms/registry/entries.hpp"
#include "algorithms/trees/spanning_rooted.hpp"
#include "algorithms/trees/spanning_trees.hpp"
#include "algorithms/trees/tree_rooted.hpp"

namespace trefoil {

namespace {

using namespace table;
using Distance = TreeKind::Distance;

constexpr std::string_view doubling_paper =
    "Thakur, Rabenseifner and Gropp, IJHPCA 2005; by dimensions: De Sensi et al., Swing, NSDI 2024";
constexpr std::string_view bine_torus_paper =
    "De Sensi et al., Bine trees, SC 2025, Appendix D, one port";

std::vector<ProductPart> doubling_parts_in_turn(const Torus& torus, Collective collective,
                                                const BuildOptions&) {
    return doubling_parts(torus, collective, {.single_port = true});
}

std::string some_size_is_odd(const Torus& torus) {
    const bool odd = std::ranges::any_of(torus.sizes(), [](Rank n) { return n > 1 && n % 2 == 1; });
    return odd ? "" : "it has no dimension of odd size, where it is swing-b";
}

/// A link belongs to one tree on the way up, and to one on the way down.
double two_trees(const Torus& torus, const BuildOptions&) {
    return 2.0 / std::max(SpanningTrees(torus, 0).count(), 1);
}

Block pieces_of_trinaryx(const Torus& torus, const CostModel& model, double vector_bytes,
                         Block segments) {
    const SpanningTrees trees(torus, 0);
    return best_pieces(model, 2 * trees.depth() - 1, vector_bytes / std::max(trees.count(), 1),
                       2 * trees.count(), segments, true);
}

template <Collective collective, Distance distance>
Schedule bine_tree(const Torus& torus, Rank rank, const BuildOptions& options) {
    return build_tree(collective, {TreeKind::Pattern::bine, distance}, torus, rank, options.root,
                      TreePorts::one_torus);
}

template <Distance distance>
std::vector<Rank> owners_of_bine_tree(const Torus& torus, const BuildOptions& options, int part) {
    return tree_owners({TreeKind::Pattern::bine, distance}, torus, options.root,
                       TreePorts::one_torus, part);
}

template <Collective collective, Distance distance>
constexpr Algorithm bine_tree_entry() {
    constexpr bool owned = collective == Collective::gather || collective == Collective::scatter;
    constexpr bool doubling = distance == Distance::doubling;
    return {
        .name = doubling ? "bine-torus-dd" : "bine-torus-dh",
        .collective = collective,
        .summary = doubling ? "bine-dd through one port, the dimensions of the torus in turn"
                            : "bine-dh through one port, the dimensions of the torus in turn",
        .paper = bine_torus_paper,
        .shapes = "every torus",
        .traits = nested,
        .selection = by_name_only,
        .shape_refusal = every_torus,
        .builder = bine_tree<collective, distance>,
        .landing_vectors = one,
        .owners = owned ? owners_of_bine_tree<distance> : nullptr,
    };
}

template <Collective collective>
constexpr Algorithm bine_halving_entry() {
    return {
        .name = "bine-torus-dh",
        .collective = collective,
        .summary = "bine-dh through one port, the dimensions of the torus in turn",
        .paper = bine_torus_paper,
        .shapes = "every torus",
        .traits = scattered,
        .selection = by_name_only,
        .shape_refusal = every_torus,
        .builder = build_product<bine_torus_halving_parts, collective>,
        .landing_vectors = one,
        .owners = owners_of_product<bine_torus_halving_parts>,
        .alike = by_parity,
    };
}

constexpr Algorithm published_table[] = {
    {
        .name = "recursive-doubling-torus-l",
        .collective = Collective::allreduce,
        .summary = "recursive-doubling-l through one port, the dimensions of the torus in turn",
        .paper = doubling_paper,
        .shapes = "every torus",
        .traits = nested,
        .selection = by_name_only,
        .shape_refusal = every_torus,
        .builder = without_options<build_recursive_doubling_torus_l>,
        .landing_vectors = one,
        .alike = by_halves_of_powers,
    },
    {
        .name = "recursive-doubling-torus-b",
        .collective = Collective::allreduce,
        .summary = "recursive-doubling-b through one port, the dimensions of the torus in turn",
        .paper = doubling_paper,
        .shapes = "every torus",
        .traits = scattered,
        .selection = by_name_only,
        .shape_refusal = every_torus,
        .builder = build_product<doubling_parts_in_turn, Collective::allreduce>,
        .landing_vectors = one,
        .alike = by_halves_of_powers,
    },
    {
        .name = "bruck-l-one-way",
        .collective = Collective::allreduce,
        .summary = "bruck-l with all messages one way round, as far as that is the shorter way",
        .paper = "Bruck and Ho, Parallel Processing Letters 1993",
        .shapes = "every torus",
        .traits = windowed,
        .selection = by_name_only,
        .shape_refusal = every_torus,
        .builder = without_options<build_bruck_l_one_way>,
        .landing_vectors = ternary_steps,
        .alike = everywhere,
    },
    {
        .name = "swing-published",
        .collective = Collective::allreduce,
        .summary = "swing-b where the extra rank of odd sizes sends single blocks to all others",
        .paper = "De Sensi et al., Swing, NSDI 2024, section 3",
        .shapes = "tori with a dimension of odd size",
        .traits = scattered,
        .selection = by_name_only,
        .shape_refusal = some_size_is_odd,
        .builder = build_product<published_swing_parts, Collective::allreduce>,
        .landing_vectors = one,
        .alike = by_parity,
    },
    {
        .name = "trinaryx",
        .collective = Collective::allreduce,
        .summary = "pieces up spanning trees that share no link and down again; many steps",
        .paper = "Trinaryx, after Juerss, Addanki and Schmid, Trivance; trees of the torus: own",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.pieces = true},
        .selection = by_name_only,
        .shape_refusal = every_torus,
        .builder = build_trinaryx,
        .landing_vectors = two_trees,
        .best_pieces = pieces_of_trinaryx,
    },
    bine_halving_entry<Collective::reduce_scatter>(),
    bine_halving_entry<Collective::allgather>(),
    bine_tree_entry<Collective::bcast, Distance::doubling>(),
    bine_tree_entry<Collective::bcast, Distance::halving>(),
    bine_tree_entry<Collective::reduce, Distance::doubling>(),
    bine_tree_entry<Collective::reduce, Distance::halving>(),
    bine_tree_entry<Collective::gather, Distance::doubling>(),
    bine_tree_entry<Collective::gather, Distance::halving>(),
    bine_tree_entry<Collective::scatter, Distance::doubling>(),
    bine_tree_entry<Collective::scatter, Distance::halving>(),
};

}  // namespace

std::span<const Algorithm> published_entries() {
    return published_table;
}

}  // namespace trefoil
