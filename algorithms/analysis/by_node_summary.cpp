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
    std::int64_t sizes = 0;  ///< of one message of each step
};

/// A rank gives or gets a block of its own, or all of a leader's share.
void add(Inside& inside, std::int64_t messages, bool own_block, std::int64_t blocks_of_vector) {
    const std::int64_t size = own_block ? 1 : blocks_of_vector;
    inside.messages += messages;
    inside.blocks += messages * size;
    inside.sizes += size;
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
    if (row.has_data()) {
        const double blocks_of_vector = static_cast<double>(blocks) * cost.parts;
        cost.inside = static_cast<double>(inside.blocks * parts) / blocks_of_vector / torus.ranks();
        // In either step somebody gives all other ranks of its node something, or gets it from all.
        cost.inside_alone =
            static_cast<double>((of_node - 1) * inside.sizes * parts) / blocks_of_vector;
    }
    return cost;
}

}  // namespace trefoil
