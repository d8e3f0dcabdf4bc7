// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: reduce_scatter and allgather.
#include "algorithms/bandwidth/builders.hpp"
#include "algorithms/bandwidth/direct.hpp"
#include "algorithms/bandwidth/product_parts.hpp"
#include "algorithms/registry/alike.hpp"
#include "algorithms/registry/entries.hpp"
#include "algorithms/trivance/builders.hpp"

namespace trefoil {

namespace {

using namespace table;

constexpr Algorithm reduce_scatter_allgather_table[] = {
    {
        .name = "trivance",
        .collective = Collective::reduce_scatter,
        .summary = "two partners per step, each other third of what is held; log3 p steps",
        .paper = "Juerss, Addanki and Schmid, Trivance; other sizes than powers of three: own",
        .shapes = "every torus",
        .traits = scattered,
        .shape_refusal = every_torus,
        .builder = build_product<trivance_parts, Collective::reduce_scatter>,
        .landing_vectors = half,
        .owners = owners_of_product<trivance_parts>,
        .alike = everywhere,
    },
    {
        .name = "swing",
        .collective = Collective::reduce_scatter,
        .summary = "halves exchanged with partners that swing both ways; log2 p steps",
        .paper = "De Sensi et al., Swing, NSDI 2024, sections 3 and 4; odd sizes: own",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.layouts = true, .single_port = true},
        .shape_refusal = every_torus,
        .builder = build_product<swing_parts, Collective::reduce_scatter>,
        .landing_vectors = half_and_a_block,
        .owners = owners_of_product<swing_parts>,
        .alike = by_parity,
    },
    {
        .name = "recursive-halving",
        .collective = Collective::reduce_scatter,
        .summary = "halves exchanged at distances 1, 2, 4, ...; log2 p steps",
        .paper = "Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4.2; all ports: own",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.single_port = true},
        .shape_refusal = every_torus,
        .builder = build_product_in_line<doubling_parts, Collective::reduce_scatter>,
        .landing_vectors = half,
        .owners = owners_in_line<doubling_parts>,
        .alike = by_halves_of_powers,
    },
    {
        .name = "bucket",
        .collective = Collective::reduce_scatter,
        .summary = "a ring per dimension, one dimension after the other; least load",
        .paper = "Sack and Gropp, ACM TOPC 2015, section 4",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.single_port = true},
        .shape_refusal = every_torus,
        .builder = build_product<bucket_parts, Collective::reduce_scatter>,
        .landing_vectors = half,
        .owners = owners_of_product<bucket_parts>,
        .alike = everywhere,
    },
    {
        .name = "ring",
        .collective = Collective::reduce_scatter,
        .summary = "one ring through all ranks, both ways round; p-1 steps",
        .paper = "Patarasuk and Yuan, JPDC 2009",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.single_port = true},
        .selection = bucket_is_better,
        .shape_refusal = every_torus,
        .builder = build_ring<Collective::reduce_scatter>,
        .landing_vectors = half,
        .alike = along_the_line,
    },
    {
        .name = "direct",
        .collective = Collective::reduce_scatter,
        .summary = "blocks go straight to their owners, who reduce them in rank order",
        .paper = "own",
        .shapes = "every torus",
        .traits = ordered_scattered,
        .shape_refusal = every_torus,
        .builder = without_options<build_direct_reduce_scatter>,
        .landing_vectors = one_block,
        .alike = everywhere,
    },
    {
        .name = "trivance",
        .collective = Collective::allgather,
        .summary = "two partners per step, three times the blocks after each; log3 p steps",
        .paper = "Juerss, Addanki and Schmid, Trivance; other sizes than powers of three: own",
        .shapes = "every torus",
        .traits = scattered,
        .shape_refusal = every_torus,
        .builder = build_product<trivance_parts, Collective::allgather>,
        .landing_vectors = half,
        .owners = owners_of_product<trivance_parts>,
        .alike = everywhere,
    },
    {
        .name = "swing",
        .collective = Collective::allgather,
        .summary = "all that is held goes to partners that swing both ways; log2 p steps",
        .paper = "De Sensi et al., Swing, NSDI 2024, sections 3 and 4; odd sizes: own",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.layouts = true, .single_port = true},
        .shape_refusal = every_torus,
        .builder = build_product<swing_parts, Collective::allgather>,
        .landing_vectors = half_and_a_block,
        .owners = owners_of_product<swing_parts>,
        .alike = by_parity,
    },
    {
        .name = "recursive-doubling",
        .collective = Collective::allgather,
        .summary = "all that is held is exchanged at distances ..., 4, 2, 1; log2 p steps",
        .paper = "Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4.1; all ports: own",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.single_port = true},
        .shape_refusal = every_torus,
        .builder = build_product_in_line<doubling_parts, Collective::allgather>,
        .landing_vectors = half,
        .owners = owners_in_line<doubling_parts>,
        .alike = by_halves_of_powers,
    },
    {
        .name = "bucket",
        .collective = Collective::allgather,
        .summary = "a ring per dimension, one dimension after the other; least load",
        .paper = "Sack and Gropp, ACM TOPC 2015, section 4",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.single_port = true},
        .shape_refusal = every_torus,
        .builder = build_product<bucket_parts, Collective::allgather>,
        .landing_vectors = half,
        .owners = owners_of_product<bucket_parts>,
        .alike = everywhere,
    },
    {
        .name = "ring",
        .collective = Collective::allgather,
        .summary = "one ring through all ranks, both ways round; p-1 steps",
        .paper = "Patarasuk and Yuan, JPDC 2009",
        .shapes = "every torus",
        .traits = scattered,
        .abilities = {.single_port = true},
        .selection = bucket_is_better,
        .shape_refusal = every_torus,
        .builder = build_ring<Collective::allgather>,
        .landing_vectors = half,
        .alike = along_the_line,
    },
    {
        .name = "direct",
        .collective = Collective::allgather,
        .summary = "every rank sends its block straight to all others",
        .paper = "own",
        .shapes = "every torus",
        .traits = scattered,
        // Pricing the p^2 messages of more ranks costs more than it ever saves.
        .selection = {.most_ranks = 128},
        .shape_refusal = every_torus,
        .builder = without_options<build_direct_allgather>,
        .landing_vectors = one_block,
        .alike = everywhere,
    },
};

}  // namespace

std::span<const Algorithm> reduce_scatter_allgather_entries() {
    return reduce_scatter_allgather_table;
}

}  // namespace trefoil
