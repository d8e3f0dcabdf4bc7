// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: what ranks do that read each other's memory.
#include "algorithms/registry/entries.hpp"
#include "algorithms/single_copy/builders.hpp"

namespace trefoil {

namespace {

using namespace table;
using enum Collective;

/// Reductions go in rank order, straight from the memory of peers.
constexpr Traits pulled{.cost_class = CostClass::bandwidth,
                        .identical_results = true,
                        .order_preserving = true,
                        .reads_peers = true};
constexpr Traits copied{.cost_class = CostClass::bandwidth, .reads_peers = true};

template <Collective collective>
constexpr Algorithm entry(std::string_view summary) {
    return {
        .name = "single-copy",
        .collective = collective,
        .summary = summary,
        .paper = "own",
        .shapes = "every torus",
        .traits = traits_of(collective).reduces ? pulled : copied,
        .shape_refusal = every_torus,
        .builder = build_single_copy<collective>,
        .landing_vectors = none,
    };
}

constexpr Algorithm by_root() {
    Algorithm algorithm = entry<reduce>(
        "the root reduces all ranks' vectors straight from their memory, in rank order");
    algorithm.name = "single-copy-root";
    algorithm.builder = build_single_copy_root;
    return algorithm;
}

/// The same, where what peers read is an image of it.
template <Collective collective>
constexpr Algorithm shown(std::string_view summary) {
    Algorithm algorithm = entry<collective>(summary);
    algorithm.name = "shared-copy";
    algorithm.traits.by_image = true;
    return algorithm;
}

constexpr Algorithm single_copy_table[] = {
    entry<allreduce>("each rank reduces a share straight from all ranks' memory, in rank order"),
    entry<reduce_scatter>("each rank reduces its block straight from all ranks' memory"),
    entry<allgather>("each rank copies the blocks straight from their ranks' memory"),
    entry<bcast>("each rank copies the vector straight from the root's memory"),
    entry<reduce>("as the allreduce; the root alone copies the sums"),
    by_root(),
    entry<gather>("the root copies the blocks straight from their ranks' memory"),
    entry<scatter>("each rank copies its block straight from the root's memory"),
    entry<alltoall>("each rank copies its blocks straight from the other ranks' memory"),
    shown<allreduce>("each rank shows its vector in shared memory, and reduces a share of all"),
    shown<allgather>("each rank shows its block in shared memory, where the others read it"),
    shown<bcast>("the root shows the vector in shared memory, where the others read it"),
    shown<reduce>("as the allreduce; the root alone copies the sums"),
};

}  // namespace

std::span<const Algorithm> single_copy_entries() {
    return single_copy_table;
}

}  // namespace trefoil
