// SPDX-License-Identifier: BSD-3-Clause
// Sums over the steps.
#include "algorithms/analysis/link_summary.hpp"

#include <algorithm>
#include <cstdint>

namespace trefoil {

CostSummary summarize_links(const Torus& torus, const LinkSteps& links, std::int64_t blocks) {
    CostSummary result;
    result.parts = links.parts;
    const double blocks_of_vector = static_cast<double>(blocks) * links.parts;
    std::int64_t sum = 0, inside = 0, alone = 0, beside_links = 0;
    for (const auto& [load, hops, through_port, blocks_inside, most_inside] : links.steps) {
        result.steps_inside += hops == 0 && blocks_inside > 0 ? 1 : 0;
        inside += blocks_inside;
        (hops == 0 ? alone : beside_links) += most_inside;
        if (hops > 0) {  // somebody sends
            result.step_max_link_load.push_back(static_cast<double>(load) / (2 * blocks_of_vector));
            result.step_max_hops.push_back(static_cast<int>(hops));
            sum += load;
            result.sum_hops += hops;
            result.max_sends_per_port_per_step =
                std::max(result.max_sends_per_port_per_step, through_port);
        }
    }
    result.sum_link_load = static_cast<double>(sum) / (2 * blocks_of_vector);
    result.steps = static_cast<int>(result.step_max_hops.size());
    result.packed = static_cast<double>(links.gathered) / blocks_of_vector / torus.ranks();
    result.inside = static_cast<double>(inside) / blocks_of_vector / torus.ranks();
    result.inside_alone = static_cast<double>(alone) / blocks_of_vector;
    result.inside_beside_links = static_cast<double>(beside_links) / blocks_of_vector;
    result.busiest_link = static_cast<double>(links.busiest_link) / (2 * blocks_of_vector);
    result.messages_inside = static_cast<double>(links.messages_inside) / torus.ranks();
    result.links_only = true;
    return result;
}

}  // namespace trefoil
