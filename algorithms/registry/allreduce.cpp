// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: allreduce and barrier.
#include "algorithms/bandwidth/builders.hpp"
#include "algorithms/bandwidth/direct.hpp"
#include "algorithms/bandwidth/product_parts.hpp"
#include "algorithms/latency/builders.hpp"
#include "algorithms/latency/linear.hpp"
#include "algorithms/registry/alike.hpp"
#include "algorithms/registry/entries.hpp"
#include "algorithms/trivance/builders.hpp"

namespace trefoil {

namespace {

using namespace table;

template <Collective collective>
Schedule linear_of(const Torus& torus, Rank rank, const BuildOptions& options) {
    return build_linear(collective, torus, rank, options);
}

/// A vector in each step.
double to_and_from_root(const Torus& torus) {
    return one_per_port_twice(torus);
}

constexpr Algorithm allreduce_table[] = {
    {
        .name = "trivance-l",
        .collective = Collective::allreduce,
        .summary = "three windows of ranks joined per step, whole vectors; about log3 p steps",
        .paper = "Juerss, Addanki and Schmid, Trivance; other sizes than powers of three: own",
        .shapes = "every torus",
        .traits = windowed,
        .shape_refusal = every_torus,
        .builder = without_options<build_trivance_l>,
        .landing_vectors = ternary_steps,
        .alike = everywhere,
    },
    {
        .name = "trivance-g",
        .collective = Collective::allreduce,
        .summary = "the same pattern as an allgather of contributions, reduced in rank order",
        .paper = "own, with the pattern of Juerss, Addanki and Schmid, Trivance",
        .shapes = "every torus",
        .traits = ordered,
        .selection = {.gathers_contributions = true},
        .shape_refusal = every_torus,
        .builder = without_options<build_trivance_g>,
        .landing_vectors = one_per_rank,
        .alike = everywhere,
    },
    {
        .name = "swing-l",
        .collective = Collective::allreduce,
        .summary = "exchanges of whole vectors with partners that swing both ways; log2 p steps",
        .paper = "De Sensi et al., Swing, NSDI 2024, section 3; all ports, and folds: own",
        .shapes = "every torus",
        .traits = windowed,
        .abilities = {.single_port = true},
        .shape_refusal = every_torus,
        .builder = build_swing_l,
        .landing_vectors = one,
        .alike = by_parity_of_powers,
        .witnesses = axes_of_powers,
        .flows = swing_l_flows,
    },
    {
        .name = "recursive-doubling-l",
        .collective = Collective::allreduce,
        .summary = "exchanges of whole vectors at distances 1, 2, 4, ...; log2 p steps",
        .paper = "Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4.5; all ports: own",
        .shapes = "every torus",
        .traits = windowed,
        .abilities = {.single_port = true},
        .shape_refusal = every_torus,
        .builder = build_recursive_doubling_l,
        .landing_vectors = one,
        .alike = by_halves_of_powers,
        .witnesses = axes_of_powers,
        .flows = recursive_doubling_l_flows,
        .least_steps = steps_of_recursive_doubling,
        .least_load = load_of_recursive_doubling,
    },
    {
        .name = "recursive-doubling-i",
        .collective = Collective::allreduce,
        .summary = "as recursive-doubling-l with nested groups: identical results, more load",
        .paper = "Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4.5; all ports: own",
        .shapes = "every torus",
        .traits = nested,
        .abilities = {.single_port = true},
        .selection = {.unpriced = Unpriced::small},
        .shape_refusal = every_torus,
        .builder = build_recursive_doubling_i,
        .landing_vectors = one,
        .alike = by_halves_of_powers,
        .witnesses = axes_of_powers,
        .flows = recursive_doubling_i_flows,
        .least_steps = steps_of_recursive_doubling,
        .least_load = load_of_recursive_doubling,
    },
    {
        .name = "trivance-b",
        .collective = Collective::allreduce,
        .summary = "reduce-scatter and allgather with two partners per step; 2 log3 p steps",
        .paper = "Juerss, Addanki and Schmid, Trivance; other sizes than powers of three: own",
        .shapes = "every torus",
        .traits = scattered,
        .shape_refusal = every_torus,
        .builder = build_trivance_b,
        .landing_vectors = one,
        .alike = everywhere,
    },
    {
        .name = "swing-b",
        .collective = Collective::allreduce,
        .summary =
            "reduce-scatter and allgather with partners that swing both ways; 2 log2 p steps",
        .paper = "De Sensi et al., Swing, NSDI 2024, sections 3 and 4; odd sizes: own",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.single_port = true},
        .selection = {.unpriced = Unpriced::large},
        .shape_refusal = every_torus,
        .builder = build_product<swing_parts, Collective::allreduce>,
        .landing_vectors = one,
        .alike = by_parity,
        .witnesses = axes_of_powers,
        .flows = flows_of_product<swing_parts, Collective::allreduce>,
    },
    {
        .name = "recursive-doubling-b",
        .collective = Collective::allreduce,
        .summary = "reduce-scatter and allgather at distances 1, 2, 4, ...; 2 log2 p steps",
        .paper =
            "Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4.5; mirrored: De Sensi et al., "
            "Swing, NSDI 2024",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.single_port = true},
        .selection = {.most_ranks = 64},
        .shape_refusal = every_torus,
        .builder = build_product_in_line<doubling_parts, Collective::allreduce>,
        .landing_vectors = one,
        .alike = by_halves_of_powers,
        .witnesses = axes_of_powers,
        .flows = flows_of_product<doubling_parts, Collective::allreduce>,
    },
    {
        .name = "bucket",
        .collective = Collective::allreduce,
        .summary = "a ring per dimension, one dimension after the other; least load, many steps",
        .paper = "Sack and Gropp, ACM TOPC 2015, section 4",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.single_port = true},
        .shape_refusal = every_torus,
        .builder = build_product<bucket_parts, Collective::allreduce>,
        .landing_vectors = one,
        .alike = everywhere,
        .witnesses = formula_of_rings,
        .flows = flows_of_product<bucket_parts, Collective::allreduce>,
        .link_steps = links_of_bucket<Collective::allreduce>,
        .least_steps = twice_round,
    },
    {
        .name = "ring",
        .collective = Collective::allreduce,
        .summary = "one ring through all ranks, both ways round; 2(p-1) steps",
        .paper = "Patarasuk and Yuan, JPDC 2009",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.single_port = true},
        .selection = bucket_is_better,
        .shape_refusal = every_torus,
        .builder = build_ring<Collective::allreduce>,
        .landing_vectors = two_halves,
        .alike = along_the_line,
    },
    {
        .name = "ordered",
        .collective = Collective::allreduce,
        .summary = "reduce-scatter straight to the owners, in rank order; bucket's allgather",
        .paper = "own; allgather: Sack and Gropp, ACM TOPC 2015, section 4",
        .shapes = "every torus",
        .traits = ordered_scattered,
        .shape_refusal = every_torus,
        .builder = without_options<build_ordered>,
        .landing_vectors = half_and_a_block,
        .alike = by_parity_where_even,
    },
    {
        .name = "direct",
        .collective = Collective::allreduce,
        .summary = "every rank sends its vector straight to all others, who reduce in rank order",
        .paper = "own",
        .shapes = "every torus",
        .traits = ordered,
        .selection = {.most_ranks = 128, .gathers_contributions = true, .bursts = true},
        .shape_refusal = every_torus,
        .builder = without_options<build_direct_allreduce>,
        .landing_vectors = one,
        .alike = by_parity_where_even,
        .least_steps = offsets_at_once,
    },
    {
        .name = "linear",
        .collective = Collective::allreduce,
        .summary = "rank 0 receives from everybody, reduces in rank order, sends to everybody",
        .paper = "Thakur, Rabenseifner and Gropp, IJHPCA 2005",
        .shapes = "every torus",
        .traits = ordered,
        .abilities = {.single_port = true},
        .shape_refusal = every_torus,
        .builder = linear_of<Collective::allreduce>,
        .landing_vectors = one,
        .least_steps = one_per_port_twice,
        .least_load = to_and_from_root,
    },
    {
        .name = "dissemination",
        .collective = Collective::barrier,
        .summary = "signals to the ranks 1, 2, 4, ... further; log2 p steps",
        .paper = "Hensgen, Finkel and Manber, IJPP 1988",
        .shapes = "every torus",
        .traits = ordered,
        .abilities = {.single_port = true},
        .shape_refusal = every_torus,
        .builder = without_options<build_barrier>,
        .landing_vectors = none,
        .alike = along_the_line,
        .witnesses = formula_of_rings,
        .link_steps = barrier_link_steps,
    },
    {
        .name = "linear",
        .collective = Collective::barrier,
        .summary = "rank 0 hears from all ranks, and then notifies them",
        .paper = "Thakur, Rabenseifner and Gropp, IJHPCA 2005",
        .shapes = "every torus",
        .traits = ordered,
        .abilities = {.single_port = true},
        .shape_refusal = every_torus,
        .builder = linear_of<Collective::barrier>,
        .landing_vectors = none,
        .least_steps = one_per_port_twice,
    },
};

}  // namespace

std::span<const Algorithm> allreduce_entries() {
    return allreduce_table;
}

}  // namespace trefoil
