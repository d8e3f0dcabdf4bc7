// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: alltoall by messages that the network routes.
#include "algorithms/alltoall/shifts.hpp"
#include "algorithms/registry/alike.hpp"
#include "algorithms/registry/entries.hpp"

namespace trefoil {

namespace {

using namespace table;

/// Blocks go straight to their targets.
constexpr Traits straight{.cost_class = CostClass::bandwidth, .vector_variant = true};

std::string equal_sizes(const Torus& torus) {
    for (int j = 1; j < torus.dimensions(); ++j) {
        if (torus.size(j) != torus.size(0)) {
            return "orbit shifts offsets from one dimension to the next, and needs dimensions of "
                   "one size";
        }
    }
    return {};
}

constexpr Algorithm alltoall_table[] = {
    {
        .name = "orbit",
        .collective = Collective::alltoall,
        .summary = "straight to the offsets that are images of one another, in one step",
        .paper = "own",
        .shapes = "dimensions of one size",
        .traits = straight,
        .shape_refusal = equal_sizes,
        .builder = without_options<build_orbit_alltoall>,
        .landing_vectors = one_block,
        .alike = by_parity_where_even,
        .witnesses = formula_of_rings,
        .link_steps = orbit_link_steps,
        .links_of_nodes = true,
        .least_steps = one_per_port,
    },
    {
        .name = "pairwise",
        .collective = Collective::alltoall,
        .summary = "in step i ranks r and r xor i exchange, or r sends to r+i; p-1 steps",
        .paper = "Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4",
        .shapes = "every torus",
        .traits = straight,
        .shape_refusal = every_torus,
        .builder = without_options<build_pairwise_alltoall>,
        .landing_vectors = one_block,
        .least_steps = one_per_rank,
        .least_load = pairwise_alltoall_load,
    },
    {
        .name = "linear",
        .collective = Collective::alltoall,
        .summary = "straight to every rank, to up to 32 at once",
        .paper = "Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4",
        .shapes = "every torus",
        .traits = straight,
        .selection = {.bursts = true},
        .shape_refusal = every_torus,
        .builder = without_options<build_linear_alltoall>,
        .landing_vectors = one_block,
        .alike = by_parity_where_even,
        .witnesses = formula_of_rings,
        .link_steps = linear_link_steps,
        .links_of_nodes = true,
        .least_steps = offsets_at_once,
        .least_load = linear_alltoall_load,
    },
    {
        .name = "bruck",
        .collective = Collective::alltoall,
        .summary = "along the digits of the offset in linear order; log_r p digits, far messages",
        .paper = "Bruck et al., IEEE TPDS 1997, section 3",
        .shapes = "every torus",
        .traits = {.cost_class = CostClass::latency},
        .abilities = {.radix = true, .ports = true},
        .shape_refusal = every_torus,
        .builder = build_bruck_alltoall,
        .landing_vectors = bruck_alltoall_message,
        .alike = along_the_line_by_parity,
        .least_steps = one_per_doubling,
        .least_load = bruck_alltoall_load,
    },
};

}  // namespace

std::span<const Algorithm> alltoall_entries() {
    return alltoall_table;
}

}  // namespace trefoil
