// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: what the papers compare with, Bruck's and Hamiltonian cycles.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "algorithms/bandwidth/builders.hpp"
#include "algorithms/bandwidth/hamiltonian_cycles.hpp"
#include "algorithms/bandwidth/product_parts.hpp"
#include "algorithms/latency/builders.hpp"
#include "algorithms/registry/alike.hpp"
#include "algorithms/registry/entries.hpp"

namespace trefoil {

namespace {

using namespace table;

constexpr std::string_view census_paper =
    "Bar-Noy, Kipnis and Schieber, Parallel Processing Letters 1993; Bruck and Ho, ibid. 1993; "
    "both ways round: own";
constexpr std::string_view bruck_paper =
    "Bruck et al., IEEE TPDS 1997, radix 3; along the dimensions of a torus: own";
constexpr std::string_view cycles_paper =
    "De Sensi et al., Swing, NSDI 2024; cycles: Bae and Bose, IEEE TC 2003";
constexpr std::string_view cycles_shapes = "r x c, r a multiple of c, gcd(r, c - 1) = 1";

/// A block moves between two ranks once in each phase.
double a_quarter(const Torus&, const BuildOptions&) {
    return 0.25;
}

template <int phases>
LinkSteps hamiltonian_link_steps(const Torus& torus) {
    return hamiltonian_links(torus, phases);
}

constexpr Algorithm baselines_table[] = {
    {
        .name = "bruck-l",
        .collective = Collective::allreduce,
        .summary = "windows that grow threefold, two whole vectors per step; about log3 p steps",
        .paper = census_paper,
        .shapes = "every torus",
        .traits = windowed,
        .shape_refusal = every_torus,
        .builder = without_options<build_bruck_l>,
        .landing_vectors = ternary_steps,
        .alike = everywhere,
    },
    {
        .name = "bruck-b",
        .collective = Collective::allreduce,
        .summary = "reduce-scatter and allgather along base-3 digits; 2 log3 p steps, far messages",
        .paper = bruck_paper,
        .shapes = "every torus",
        .traits = scattered,
        .shape_refusal = every_torus,
        .builder = build_product<bruck_parts, Collective::allreduce>,
        .landing_vectors = one,
        .alike = everywhere,
        .flows = flows_of_product<bruck_parts, Collective::allreduce>,
    },
    {
        .name = "hamiltonian",
        .collective = Collective::allreduce,
        .summary = "rings on two edge-disjoint Hamiltonian cycles, both ways; 2(p-1) steps",
        .paper = cycles_paper,
        .shapes = cycles_shapes,
        .traits = scattered,
        .shape_refusal = HamiltonianCycles::refusal,
        .builder = without_options<build_hamiltonian_allreduce>,
        .landing_vectors = half,
        .alike = along_the_cycles,
        .witnesses = formula_of_rings,
        .link_steps = hamiltonian_link_steps<2>,
        .links_of_nodes = true,
        .least_steps = one_per_rank_twice,
    },
    {
        .name = "hamiltonian",
        .collective = Collective::reduce_scatter,
        .summary = "rings on two edge-disjoint Hamiltonian cycles, both ways; p-1 steps",
        .paper = cycles_paper,
        .shapes = cycles_shapes,
        .traits = scattered,
        .shape_refusal = HamiltonianCycles::refusal,
        .builder = without_options<build_hamiltonian_reduce_scatter>,
        .landing_vectors = a_quarter,
        .owners = hamiltonian_owners,
        .alike = along_the_cycles,
        .witnesses = formula_of_rings,
        .link_steps = hamiltonian_link_steps<1>,
        .links_of_nodes = true,
        .least_steps = one_per_rank,
    },
    {
        .name = "hamiltonian",
        .collective = Collective::allgather,
        .summary = "rings on two edge-disjoint Hamiltonian cycles, both ways; p-1 steps",
        .paper = cycles_paper,
        .shapes = cycles_shapes,
        .traits = scattered,
        .shape_refusal = HamiltonianCycles::refusal,
        .builder = without_options<build_hamiltonian_allgather>,
        .landing_vectors = a_quarter,
        .owners = hamiltonian_owners,
        .alike = along_the_cycles,
        .witnesses = formula_of_rings,
        .link_steps = hamiltonian_link_steps<1>,
        .links_of_nodes = true,
        .least_steps = one_per_rank,
    },
    {
        .name = "bruck",
        .collective = Collective::reduce_scatter,
        .summary = "along base-3 digits, two messages per step; log3 p steps, far messages",
        .paper = bruck_paper,
        .shapes = "every torus",
        .traits = scattered,
        .shape_refusal = every_torus,
        .builder = build_product<bruck_parts, Collective::reduce_scatter>,
        .landing_vectors = half,
        .owners = owners_of_product<bruck_parts>,
        .alike = everywhere,
        .flows = flows_of_product<bruck_parts, Collective::reduce_scatter>,
    },
    {
        .name = "bruck",
        .collective = Collective::allgather,
        .summary = "along base-3 digits, two messages per step; log3 p steps, far messages",
        .paper = bruck_paper,
        .shapes = "every torus",
        .traits = scattered,
        .shape_refusal = every_torus,
        .builder = build_product<bruck_parts, Collective::allgather>,
        .landing_vectors = half,
        .owners = owners_of_product<bruck_parts>,
        .alike = everywhere,
        .flows = flows_of_product<bruck_parts, Collective::allgather>,
    },
    {
        .name = "sparbit",
        .collective = Collective::allgather,
        .summary = "all that is new goes to distances ..., 4, 2, 1; blocks stay in rank order",
        .paper = "Loch and Koslovski, Sparbit, arXiv:2109.08751, 2021",
        .shapes = "every torus",
        .traits = scattered,
        .selection = {.most_ranks = 64},
        .shape_refusal = every_torus,
        .builder = without_options<build_sparbit_allgather>,
        .landing_vectors = half,
        .alike = everywhere,
    },
};

}  // namespace

std::span<const Algorithm> baseline_entries() {
    return baselines_table;
}

}  // namespace trefoil
