// SPDX-License-Identifier: BSD-3-Clause
// Each rank of a node leads as many parts as the algorithm has between nodes, with its share of the
// vector: together they load links as the algorithm does with all of it. Steps through memory are
// before and after that (algorithms/schedule/by_node.hpp).
#include "algorithms/analysis/by_node_summary.hpp"

#include <cstdint>
#include <utility>

namespace trefoil {

namespace {

/// Of all ranks, for one part between nodes, led in shares by the ranks of each node.
struct Inside {
    std::int64_t messages = 0, blocks = 0;
};

/// A rank gives or gets a block of its own, or all of a leader's share.
void add(Inside& inside, std::int64_t messages, bool own_block, std::int64_t blocks_of_vector) {
    inside.messages += messages;
    inside.blocks += messages * (own_block ? 1 : blocks_of_vector);
}

}  // namespace

CostSummary summarize_by_node(const Torus& torus, const CollectiveTraits& row,
                              CostSummary between) {
    const std::int64_t of_node = torus.per_node(), nodes = torus.nodes().ranks();
    const std::int64_t leaders = row.has_data() ? of_node : 1;
    const std::int64_t blocks = row.has_blocks() ? torus.ranks() : 1;
    const std::int64_t of_root = leaders - 1;  // messages, where the root alone has something
    const std::int64_t of_all = nodes * leaders * (of_node - 1);
    const bool from_root = row.in.holders == Holders::root;
    const bool to_root = row.out.holders == Holders::root;
    Inside inside;
    add(inside, from_root ? of_root : of_all, !from_root && row.in.data == Data::own_block, blocks);
    // The root has what it has brought.
    add(inside, to_root ? of_root : of_all - (from_root ? of_root : 0),
        !to_root && row.out.data == Data::own_block, blocks);
    CostSummary cost = std::move(between);
    const int parts = cost.parts;
    cost.parts *= static_cast<int>(leaders);
    cost.steps_inside = of_node > 1 ? 2 : 0;
    cost.messages_inside = static_cast<double>(inside.messages * parts) / torus.ranks();
    cost.inside = row.has_data() ? static_cast<double>(inside.blocks * parts) /
                                       (static_cast<double>(blocks) * cost.parts) / torus.ranks()
                                 : 0;
    // Who leads has heard from the ranks of its node before.
    cost.steps_at_once = 0;
    cost.hops_at_once = 0;
    cost.load_at_once = 0;
    return cost;
}

}  // namespace trefoil
