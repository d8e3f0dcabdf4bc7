// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: alltoall along the rings of each dimension.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/alltoall/fitted_rings.hpp"
#include "algorithms/alltoall/partition.hpp"
#include "algorithms/alltoall/product_alltoall.hpp"
#include "algorithms/alltoall/ring_kinds.hpp"
#include "algorithms/alltoall/tabulated_ring.hpp"
#include "algorithms/registry/alike.hpp"
#include "algorithms/registry/entries.hpp"
#include "algorithms/schedule/single_port.hpp"

namespace trefoil {

namespace {

using namespace table;

constexpr Traits along_rings{.cost_class = CostClass::bandwidth, .steered = true};
constexpr std::string_view tseng =
    "Tseng, Ni and Sheu, Toward Optimal Complete Exchange on Wormhole-Routed Tori";

/// A pair of ring j is torus.ranks() / size(j) blocks of the vector's torus.ranks().
double largest_channel_of(const AlltoallRings& rings) {
    double largest = 0;
    for (const std::shared_ptr<const RingAlltoall>& ring : rings) {
        largest = std::max(largest, static_cast<double>(largest_channel(*ring)) / ring->size());
    }
    return largest;
}

/// Rings of trees are tables.
std::string too_large_for_trees(std::string_view name, const Torus& torus, Rank ways = 1) {
    for (int j = 0; j < torus.dimensions(); ++j) {
        if (torus.size(j) / ways > largest_tree_ring) {
            return std::string(name) + " takes rings of up to " +
                   std::to_string(largest_tree_ring) + ", and in dimension " + std::to_string(j) +
                   " they have " + std::to_string(torus.size(j) / ways) + "; sdx takes any";
        }
    }
    return {};
}

std::string too_large_for_a_tree(const Torus& torus) {
    return too_large_for_trees("gather-scatter-tree", torus);
}

std::string too_large_to_compare(const Torus& torus) {
    return too_large_for_trees("partition", torus);
}

template <RingKind kind>
AlltoallRings rings_of(const Torus& torus, const BuildOptions& options) {
    if (kind == RingKind::digits) {
        return digit_rings(torus, options.radix == 0 ? 2 : options.radix);
    }
    if (kind == RingKind::tree && !options.single_port) {
        return tree_rings(torus);
    }
    AlltoallRings rings;
    for (const Rank size : torus.sizes()) {
        rings.push_back(
            ring_alltoall(kind == RingKind::tree ? RingKind::tree_one_port : kind, size));
    }
    return rings;
}

template <RingKind kind>
Schedule build_rotated(const Torus& torus, Rank rank, const BuildOptions& options) {
    const AlltoallRings rings = rings_of<kind>(torus, options);
    const bool whole = options.rotation == Rotation::whole;
    std::vector<AlltoallPart> parts =
        options.single_port ? sequential_parts(rings) : rotated_parts(rings, whole);
    // One part alone is kept free of contention.
    if (!options.single_port && !whole && needs_other_way(torus)) {
        parts = with_other_way(std::move(parts));
    }
    return alltoall_schedule(torus, rank, rings, parts, options.sync);
}

template <RingKind kind>
LinkSteps links_of_rotated(const Torus& torus) {
    return rotated_link_steps(torus, rings_of<kind>(torus, {}));
}

/// Short rings may pass on from neighbour to neighbour instead.
int least_steps_of_trees(const Torus& torus) {
    int longest = 0;
    int moving = 0;
    for (const Rank size : torus.sizes()) {
        longest = std::max(longest, std::min(count_tree_steps(size), std::max(1, size / 2)));
        moving += size > 1 ? 1 : 0;
    }
    return moving * longest;
}

/// In each stage every dimension goes through its ring.
std::int64_t least_hops_of_trees(const Torus& torus) {
    std::int64_t longest = 0, moving = 0;
    for (const Rank size : torus.sizes()) {
        const std::int64_t hops = least_tree_hops(size);
        longest = std::max(longest, size > longest_passed_on
                                        ? hops
                                        : std::min<std::int64_t>(hops, std::max(1, size / 2)));
        moving += size > 1 ? 1 : 0;
    }
    return moving * longest;
}

/// How much more than its share of what is sent in one dimension a class of blocks can be. Given
/// all other coordinates, the targets or sources of another dimension are neighbours, and so differ
/// in class from one to the next.
double largest_class_of(const Torus& torus) {
    int classes = 0;
    for (const Rank size : torus.sizes()) {
        classes += size > 1 ? 1 : 0;
    }
    double excess = 1;
    for (const Rank size : torus.sizes()) {
        if (size > 1) {
            excess = std::max(excess, classes * std::ceil(1.0 * size / classes) / size);
        }
    }
    return excess;
}

template <RingKind kind>
double rotated_channel(const Torus& torus, const BuildOptions& options) {
    const double excess = options.rotation == Rotation::whole ? largest_class_of(torus) : 1;
    return excess * largest_channel_of(rings_of<kind>(torus, options));
}

// Bine's paper has the ranks in a line; here they are so with a single port.
Schedule build_bine_alltoall(const Torus& torus, Rank rank, const BuildOptions& options) {
    const Torus shape = line_if(options.single_port, torus);
    Schedule schedule = build_rotated<RingKind::bine>(shape, rank, options);
    return options.single_port ? through_first_ports(torus, std::move(schedule)) : schedule;
}

double bine_channel(const Torus& torus, const BuildOptions& options) {
    return rotated_channel<RingKind::bine>(line_if(options.single_port, torus), options);
}

std::string powers_of_two(const Torus& torus) {
    for (int j = 0; j < torus.dimensions(); ++j) {
        if ((torus.size(j) & (torus.size(j) - 1)) != 0) {
            return "bine needs dimensions of a power of two, and dimension " + std::to_string(j) +
                   " has " + std::to_string(torus.size(j));
        }
    }
    return {};
}

/// The paper's schemes: how many dimensions, and into how many ways each is parted.
template <int dimensions, Rank ways>
std::string not_to_be_parted(const Torus& torus) {
    int tori = 1;
    for (int j = 0; j < dimensions; ++j) {
        tori *= ways;
    }
    const std::string self = (dimensions == 2 ? "t" : "c") + std::to_string(tori);
    if (torus.dimensions() != dimensions) {
        return self + " is for " + std::to_string(dimensions) + " dimensions, not " +
               std::to_string(torus.dimensions()) + "; partition takes any";
    }
    for (int j = 0; j < dimensions; ++j) {
        if (torus.size(j) % ways != 0) {
            return self + " needs dimensions of a multiple of " + std::to_string(ways) +
                   ", and dimension " + std::to_string(j) + " has " +
                   std::to_string(torus.size(j)) + "; partition takes any";
        }
    }
    return too_large_for_trees(self, torus, ways);
}

template <Rank ways>
AlltoallPartition partition_of(const Torus& torus, const BuildOptions& options) {
    return ways == 0 ? cheapest_partition(torus, options.binary)
                     : uniform_partition(torus, ways, options.binary);
}

template <Rank ways>
Schedule build_partitioned(const Torus& torus, Rank rank, const BuildOptions& options) {
    const AlltoallPartition partition = partition_of<ways>(torus, options);
    return alltoall_schedule(torus, rank, partition_rings(torus, partition),
                             partition_parts(torus, rank, partition), options.sync);
}

template <Rank ways>
double partitioned_channel(const Torus& torus, const BuildOptions& options) {
    return largest_channel_of(partition_rings(torus, partition_of<ways>(torus, options)));
}

/// Each group goes through all dimensions. Dimensions that are parted in four take two steps at
/// least before their trees.
template <Rank ways>
int least_steps_of_partition(const Torus& torus) {
    int steps = 0;
    for (const Rank size : torus.sizes()) {
        int least = std::numeric_limits<int>::max();
        for (Rank w = std::max(ways, 1); w <= (ways == 0 ? 4 : ways); ++w) {
            if (size > 1 && size % w == 0) {
                least = std::min(least, std::min(w - 1, 2) + count_one_port_tree_steps(size / w));
            }
        }
        steps += size > 1 ? least : 0;
    }
    return steps;
}

/// The coordinates of each way's ring are that many apart.
template <Rank ways>
std::int64_t least_hops_of_partition(const Torus& torus) {
    std::int64_t hops = 0;
    for (const Rank size : torus.sizes()) {
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (Rank w = std::max(ways, 1); w <= (ways == 0 ? 4 : ways); ++w) {
            if (size > 1 && size % w == 0) {
                least =
                    std::min(least, std::min(w - 1, 2) + w * least_one_port_tree_hops(size / w));
            }
        }
        hops += size > 1 ? least : 0;
    }
    return hops;
}

/// They take more steps than sdx and direct and load links no less, so that they hardly ever win by
/// price; on larger tori their tables take longer than that is worth.
constexpr Selection few_ranks{.most_ranks = 128};

template <int dimensions, Rank ways>
constexpr Algorithm scheme(std::string_view name, std::string_view summary,
                           std::string_view shapes) {
    return {
        .name = name,
        .collective = Collective::alltoall,
        .summary = summary,
        .paper = tseng,
        .shapes = shapes,
        .traits = along_rings,
        .abilities = {.binary = ways == 4, .barriers = true, .signals = true},
        .selection = few_ranks,
        .shape_refusal = not_to_be_parted<dimensions, ways>,
        .builder = build_partitioned<ways>,
        .landing_vectors = partitioned_channel<ways>,
        .least_steps = least_steps_of_partition<ways>,
        .least_hops = least_hops_of_partition<ways>,
    };
}

constexpr Algorithm alltoall_rings_table[] = {
    {
        .name = "sdx",
        .collective = Collective::alltoall,
        .summary = "along the signed digits of the distance in every dimension; least load",
        .paper = "own",
        .shapes = "every torus",
        .traits = along_rings,
        .abilities = {.radix = true, .rotation = true, .barriers = true},
        // So many ranks cannot all have landing slots for all others, as direct ones need.
        .selection = {.unpriced = Unpriced::all},
        .shape_refusal = every_torus,
        .builder = build_rotated<RingKind::digits>,
        .landing_vectors = rotated_channel<RingKind::digits>,
        .alike = by_parity_where_even,
        .witnesses = formula_of_rings,
        .link_steps = links_of_rotated<RingKind::digits>,
        .links_of_nodes = true,
    },
    {
        .name = "direct",
        .collective = Collective::alltoall,
        .summary = "straight to the right coordinate of one dimension after the other",
        .paper = "own",
        .shapes = "every torus",
        .traits = along_rings,
        .abilities = {.rotation = true, .barriers = true},
        .shape_refusal = every_torus,
        .builder = build_rotated<RingKind::direct>,
        .landing_vectors = rotated_channel<RingKind::direct>,
        .alike = by_parity_where_even,
        .witnesses = formula_of_rings,
        .link_steps = links_of_rotated<RingKind::direct>,
        .links_of_nodes = true,
    },
    {
        .name = "gather-scatter-tree",
        .collective = Collective::alltoall,
        .summary = "gathered at hubs of every ring and scattered from them; about 2 log2 p steps",
        .paper = tseng,
        .shapes = "dimensions of up to 1024",
        .traits = along_rings,
        .abilities = {.single_port = true, .rotation = true, .barriers = true, .signals = true},
        .selection = few_ranks,
        .shape_refusal = too_large_for_a_tree,
        .builder = build_rotated<RingKind::tree>,
        .landing_vectors = rotated_channel<RingKind::tree>,
        .link_steps = links_of_rotated<RingKind::tree>,
        .least_steps = least_steps_of_trees,
        .least_hops = least_hops_of_trees,
    },
    scheme<2, 1>("t1", "one-port trees, one dimension after the other", "2 dimensions"),
    scheme<2, 2>("t4", "one-port trees in 4 tori that take turns on the links",
                 "2 dimensions of even sizes"),
    scheme<3, 1>("c1", "one-port trees, one dimension after the other", "3 dimensions"),
    scheme<3, 2>("c8", "one-port trees in 8 tori that take turns on the links",
                 "3 dimensions of even sizes"),
    scheme<3, 3>("c27", "one-port trees in 27 tori that take turns on the links",
                 "3 dimensions of multiples of 3"),
    scheme<3, 4>("c64", "one-port trees in 64 tori that take turns on the links",
                 "3 dimensions of multiples of 4"),
    {
        .name = "partition",
        .collective = Collective::alltoall,
        .summary = "as t4 and c64, parted as is cheapest; not at all where nothing divides",
        .paper = tseng,
        .shapes = "dimensions of up to 1024",
        .traits = along_rings,
        .abilities = {.binary = true, .barriers = true, .signals = true},
        .selection = few_ranks,
        .shape_refusal = too_large_to_compare,
        .builder = build_partitioned<0>,
        .landing_vectors = partitioned_channel<0>,
        .least_steps = least_steps_of_partition<0>,
        .least_hops = least_hops_of_partition<0>,
    },
    {
        .name = "bine",
        .collective = Collective::alltoall,
        .summary = "half of all blocks exchanged at Bine distances 1, 1, 3, 5, 11, ...",
        .paper = "De Sensi et al., Bine trees, SC 2025, section 4",
        .shapes = "power-of-two dimensions",
        .traits = along_rings,
        .abilities = {.single_port = true, .rotation = true, .barriers = true},
        .shape_refusal = powers_of_two,
        .builder = build_bine_alltoall,
        .landing_vectors = bine_channel,
        .alike = by_parity_of_powers,
        .witnesses = formula_of_rings,
        .link_steps = links_of_rotated<RingKind::bine>,
        .links_of_nodes = true,
    },
};

}  // namespace

std::span<const Algorithm> alltoall_ring_entries() {
    return alltoall_rings_table;
}

}  // namespace trefoil
