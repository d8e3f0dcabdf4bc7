// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: bcast, reduce, gather and scatter.
#include <algorithm>

#include "algorithms/analysis/pipeline_pieces.hpp"
#include "algorithms/registry/alike.hpp"
#include "algorithms/registry/entries.hpp"
#include "algorithms/trees/spanning_rooted.hpp"
#include "algorithms/trees/spanning_trees.hpp"

namespace trefoil {

namespace {

using namespace table;

/// A link belongs to one tree at most.
double one_tree(const Torus& torus, const BuildOptions&) {
    return 1.0 / std::max(SpanningTrees(torus, 0).count(), 1);
}

Block pieces_of_trees(const Torus& torus, const CostModel& model, double vector_bytes,
                      Block segments) {
    const SpanningTrees trees(torus, 0);
    return best_pieces(model, trees.depth() - 1, vector_bytes / std::max(trees.count(), 1),
                       trees.count(), segments);
}

int depth_of_trees(const Torus& torus) {
    return SpanningTrees(torus, 0).depth();
}

/// On nodes all ranks are looked at.
Witnesses formula_of_trees(const Torus& torus) {
    constexpr Rank most_on_nodes = 1024;
    return torus.per_node() > 1 && torus.ranks() > most_on_nodes ? Witnesses::alike
                                                                 : formula_of_rings(torus);
}

constexpr Algorithm spanning_trees_table[] = {
    {
        .name = "spanning-trees",
        .collective = Collective::bcast,
        .summary = "pipelines along 2D spanning trees that share no link; every byte sent once",
        .paper = "Johnsson and Ho, IEEE Trans. Computers 1989; trees of the torus: own",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.pieces = true},
        .shape_refusal = every_torus,
        .builder = build_spanning_bcast,
        .landing_vectors = one_tree,
        .best_pieces = pieces_of_trees,
        .witnesses = formula_of_trees,
        .link_steps = spanning_bcast_links,
        .links_of_nodes = true,
        .least_steps = depth_of_trees,
    },
    {
        .name = "spanning-trees",
        .collective = Collective::reduce,
        .summary = "pipelines up 2D spanning trees that share no link; every byte sent once",
        .paper = "Johnsson and Ho, IEEE Trans. Computers 1989; trees of the torus: own",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.pieces = true},
        .shape_refusal = every_torus,
        .builder = build_spanning_reduce,
        .landing_vectors = one_tree,
        .best_pieces = pieces_of_trees,
        .witnesses = formula_of_trees,
        .link_steps = spanning_reduce_links,
        .links_of_nodes = true,
        .least_steps = depth_of_trees,
    },
    {
        .name = "spanning-trees",
        .collective = Collective::gather,
        .summary = "up 2D spanning trees that share no link; only neighbours talk; large vectors",
        .paper = "Johnsson and Ho, IEEE Trans. Computers 1989; trees of the torus: own",
        .shapes = "every torus",
        .traits = scattered,
        .selection = {.most_ranks = 16384},
        .shape_refusal = every_torus,
        .builder = build_spanning_gather,
        .landing_vectors = one_tree,
        .witnesses = formula_of_trees,
        .link_steps = spanning_gather_links,
        .links_of_nodes = true,
        .least_steps = depth_of_trees,
    },
    {
        .name = "spanning-trees",
        .collective = Collective::scatter,
        .summary = "down 2D spanning trees that share no link; only neighbours talk; large vectors",
        .paper = "Johnsson and Ho, IEEE Trans. Computers 1989; trees of the torus: own",
        .shapes = "every torus",
        .traits = scattered,
        .selection = {.most_ranks = 16384},
        .shape_refusal = every_torus,
        .builder = build_spanning_scatter,
        .landing_vectors = one_tree,
        .witnesses = formula_of_trees,
        .link_steps = spanning_scatter_links,
        .links_of_nodes = true,
        .least_steps = depth_of_trees,
    },
};

}  // namespace

std::span<const Algorithm> spanning_tree_entries() {
    return spanning_trees_table;
}

}  // namespace trefoil
