// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: trees, and no tree at all, for bcast, reduce, gather and scatter.
#include <algorithm>
#include <array>
#include <vector>

#include "algorithms/latency/linear.hpp"
#include "algorithms/registry/alike.hpp"
#include "algorithms/registry/entries.hpp"
#include "algorithms/schedule/long_dimensions.hpp"
#include "algorithms/trees/bine_large.hpp"
#include "algorithms/trees/tree_rooted.hpp"

namespace trefoil {

namespace {

using namespace table;
using enum Collective;
using Pattern = TreeKind::Pattern;
using Distance = TreeKind::Distance;
using Cut = TreeKind::Cut;

/// A single tree has no mirror image to share the load with.
template <Collective collective, Pattern pattern, Distance distance>
TreeKind kind_for(const BuildOptions& options) {
    const bool blocks = collective == gather || collective == scatter;
    return {pattern, distance,
            options.single_port ? Cut::even
            : blocks            ? Cut::own_blocks
                                : Cut::whole_vectors};
}

template <Collective collective, Pattern pattern, Distance distance>
Schedule tree(const Torus& torus, Rank rank, const BuildOptions& options) {
    return build_tree(collective, kind_for<collective, pattern, distance>(options), torus, rank,
                      options.root, options.single_port ? TreePorts::one : TreePorts::all);
}

template <Collective collective, Pattern pattern, Distance distance>
ProductFlows flows_of_tree(const Torus& torus) {
    return tree_flows(collective, kind_for<collective, pattern, distance>({}), torus);
}

template <Pattern pattern, Distance distance>
std::vector<Rank> owners_of_tree(const Torus& torus, const BuildOptions& options, int part) {
    return tree_owners(kind_for<gather, pattern, distance>(options), torus, options.root,
                       options.single_port ? TreePorts::one : TreePorts::all, part);
}

template <Collective collective>
Schedule linear(const Torus& torus, Rank rank, const BuildOptions& options) {
    return build_linear(collective, torus, rank, options);
}

/// Between the root and each rank.
constexpr Traits plain_tree{.cost_class = CostClass::bandwidth, .vector_variant = true};

constexpr std::string_view bine_paper =
    "De Sensi et al., Bine trees, SC 2025, section 3; sizes other than powers of two: own";
constexpr std::string_view binomial_paper =
    "Thakur, Rabenseifner and Gropp, IJHPCA 2005; all ports: own";

template <Collective collective, Pattern pattern, Distance distance>
constexpr Algorithm tree_entry(std::string_view name, std::string_view summary) {
    constexpr bool per_rank_blocks = collective == gather || collective == scatter;
    return {
        .name = name,
        .collective = collective,
        .summary = summary,
        .paper = pattern == Pattern::bine ? bine_paper : binomial_paper,
        .shapes = "every torus",
        .traits = nested,
        .abilities = {.single_port = true},
        .shape_refusal = every_torus,
        .builder = tree<collective, pattern, distance>,
        .landing_vectors = one,
        .owners = per_rank_blocks ? owners_of_tree<pattern, distance> : nullptr,
        .witnesses = flows_of_rings,
        .flows = flows_of_tree<collective, pattern, distance>,
    };
}

template <Collective collective>
constexpr std::array<Algorithm, 4> tree_entries() {
    return {
        tree_entry<collective, Pattern::bine, Distance::doubling>(
            "bine-dd", "Bine tree, distances 1, 1, 3, 5, 11, ...; log2 p steps"),
        tree_entry<collective, Pattern::bine, Distance::halving>(
            "bine-dh", "Bine tree, distances ..., 11, 5, 3, 1, 1; log2 p steps"),
        tree_entry<collective, Pattern::binomial, Distance::doubling>(
            "binomial-dd", "binomial tree, distances 1, 2, 4, ...; log2 p steps"),
        tree_entry<collective, Pattern::binomial, Distance::halving>(
            "binomial-dh", "binomial tree, distances ..., 4, 2, 1; log2 p steps"),
    };
}

/// A share of all goes through each of the root's ports. Routes go through the dimensions in their
/// order, so whoever differs from the root in the first one is reached through it, and whoever
/// differs in the last one reaches the root through that.
template <Collective collective>
double load_at_root(const Torus& torus) {
    constexpr bool per_rank_blocks = collective == gather || collective == scatter;
    constexpr bool to_root = collective == gather || collective == reduce;
    const std::vector<int> dimensions = long_dimensions(torus);
    if (dimensions.empty()) {
        return 0;
    }
    const Rank size = torus.size(to_root ? dimensions.back() : dimensions.front());
    const double either_way = static_cast<double>(torus.ranks() - torus.ranks() / size) / 2;
    return std::max<double>(one_per_port(torus), either_way) /
           (per_rank_blocks ? torus.ranks() : 1);
}

template <Collective collective>
constexpr Algorithm linear_entry(std::string_view summary, Traits traits,
                                 double (*landing_vectors)(const Torus&, const BuildOptions&)) {
    return {
        .name = "linear",
        .collective = collective,
        .summary = summary,
        .paper = "Thakur, Rabenseifner and Gropp, IJHPCA 2005",
        .shapes = "every torus",
        .traits = traits,
        .abilities = {.single_port = true},
        .shape_refusal = every_torus,
        .builder = linear<collective>,
        .landing_vectors = landing_vectors,
        .witnesses = only_root,
        .links_of_nodes = true,
        .least_steps = one_per_port,
        .least_load = load_at_root<collective>,
        .sends_at_once = collective == Collective::gather || collective == Collective::reduce,
    };
}

template <Collective collective>
Schedule large(const Torus& torus, Rank rank, const BuildOptions& options) {
    return build_bine_large(collective, torus, rank, options);
}

template <Collective collective>
ProductFlows flows_of_large(const Torus& torus) {
    return bine_large_flows(collective, torus);
}

template <Collective collective>
constexpr Algorithm large_entry(std::string_view summary) {
    return {
        .name = "bine-large",
        .collective = collective,
        .summary = summary,
        .paper =
            "De Sensi et al., Bine trees, SC 2025, section 4; sizes other than powers of two: own",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.single_port = true},
        .shape_refusal = every_torus,
        .builder = large<collective>,
        .landing_vectors = one,
        .witnesses = flows_of_rings,
        .flows = flows_of_large<collective>,
    };
}

constexpr std::array large_entries{
    large_entry<bcast>("scatter along a Bine tree, allgather in Bine's butterfly; 2 log2 p steps"),
    large_entry<reduce>("reduce-scatter in Bine's butterfly, gather along a tree; 2 log2 p steps"),
};

constexpr std::array linear_entries{
    linear_entry<bcast>("the root sends to everybody, one message per port and step", nested, one),
    linear_entry<reduce>("the root receives from everybody and reduces in rank order", ordered,
                         one),
    linear_entry<gather>("the root receives from everybody, one message per port and step",
                         plain_tree, one_block),
    linear_entry<scatter>("the root sends to everybody, one message per port and step", plain_tree,
                          one_block),
};

constexpr auto all_tree_entries = [] {
    std::array<Algorithm, 22> all;
    std::size_t next = 0;
    const auto add = [&](const auto& family) {
        for (const Algorithm& a : family) {
            all[next++] = a;
        }
    };
    add(tree_entries<bcast>());
    add(tree_entries<reduce>());
    add(tree_entries<gather>());
    add(tree_entries<scatter>());
    add(large_entries);
    add(linear_entries);
    return all;
}();

}  // namespace

std::span<const Algorithm> tree_entries() {
    return all_tree_entries;
}

}  // namespace trefoil
