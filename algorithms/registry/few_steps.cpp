// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: those that are searched for on the network, for short vectors.
#include "algorithms/registry/entries.hpp"
#include "algorithms/search/builders.hpp"

namespace trefoil {

namespace {

using namespace table;
using enum Collective;

template <Collective collective>
Schedule build_found(const Torus& torus, Rank rank, const BuildOptions& options) {
    return build_few_steps(collective, torus, rank, options);
}

template <Collective collective>
std::string exchange_refusal(const Torus& torus) {
    return few_step_exchange_refusal(collective, torus);
}

constexpr std::string_view found_source = "own; steps: Bruck et al., IEEE TPDS 1997, k-port model";
constexpr std::string_view found_networks = "every network up to 256 ranks";
constexpr std::string_view found_groups =
    "networks up to 256 ranks, unless the number of places has a large prime factor";

/// Not steered: messages go along several dimensions, and a port is of one. Bursts: where ranks are
/// few or ports many, one sends to nearly all others in a step. On whole tori it runs when it is
/// named: nothing but the model says yet that it is faster there.
template <Collective collective>
constexpr Algorithm few_steps_entry(std::string_view summary) {
    Algorithm algorithm{
        .name = "few-steps",
        .collective = collective,
        .summary = summary,
        .paper = found_source,
        .shapes = found_networks,
        .traits = nested,
        .selection = {.most_ranks = most_few_step_ranks,
                      .bursts = true,
                      .most_bytes = 16384,
                      .tori = Tori::not_whole},
        .shape_refusal = few_step_refusal,
        .builder = build_found<collective>,
        .landing_vectors = one,
    };
    if (collective == allreduce) {
        algorithm.landing_vectors = few_step_landing;
        algorithm.selection.stores_sums = true;
    }
    if (collective == reduce_scatter || collective == allgather) {
        algorithm.traits = scattered;
        algorithm.shapes = found_groups;
        algorithm.shape_refusal = exchange_refusal<collective>;
    }
    return algorithm;
}

constexpr Algorithm few_steps_table[] = {
    few_steps_entry<allreduce>("sums of cosets, the fewest steps and hops that a search finds"),
    few_steps_entry<reduce_scatter>("an allgather of the fewest steps and hops, backwards"),
    few_steps_entry<allgather>("blocks of cosets, the fewest steps and hops that a search finds"),
    few_steps_entry<bcast>("down a tree with the fewest steps and hops that a search finds"),
    few_steps_entry<reduce>("up a tree with the fewest steps and hops that a search finds"),
};

}  // namespace

std::span<const Algorithm> few_steps_entries() {
    return few_steps_table;
}

}  // namespace trefoil
