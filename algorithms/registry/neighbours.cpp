// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: neighbor_allgather and neighbor_alltoall.
#include "algorithms/neighbours/exchange.hpp"
#include "algorithms/registry/alike.hpp"
#include "algorithms/registry/entries.hpp"

namespace trefoil {

namespace {

using namespace table;
using enum Collective;

template <Collective collective>
Schedule exchange(const Torus& torus, Rank rank, const BuildOptions&) {
    return build_neighbour_exchange(collective, torus, rank);
}

/// Of the blocks of all neighbours.
double one_of_the_neighbours(const Torus& torus, const BuildOptions&) {
    return 1.0 / torus.ports();
}

template <Collective collective>
constexpr Algorithm exchange_entry() {
    return {
        .name = "direct",
        .collective = collective,
        .summary = "one message through each port, to the neighbour behind it; one step",
        .paper = "own",
        .shapes = "every torus",
        .traits = {.cost_class = CostClass::latency, .steered = true, .vector_variant = true},
        .shape_refusal = every_torus,
        .builder = exchange<collective>,
        .landing_vectors = one_of_the_neighbours,
        .alike = everywhere,
    };
}

constexpr Algorithm neighbours_table[] = {
    exchange_entry<neighbor_allgather>(),
    exchange_entry<neighbor_alltoall>(),
};

}  // namespace

std::span<const Algorithm> neighbour_entries() {
    return neighbours_table;
}

}  // namespace trefoil
