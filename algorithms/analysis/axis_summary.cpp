// SPDX-License-Identifier: BSD-3-Clause
// A step loads links as that one of its lines does which loads them most.
#include "algorithms/analysis/axis_summary.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/analysis/link_loads.hpp"

namespace trefoil {

namespace {

/// Adds the messages of one axis, which are sorted by step.
void add_axis(const Torus& ring, int dimension, std::span<const AxisMessage> messages,
              std::vector<LinkStep>& steps) {
    const Symmetry none(ring);
    const LinkPlaces places(ring, none);
    struct InStep {
        int step = -1, messages = 0;
    };
    std::vector<InStep> through(2 * static_cast<std::size_t>(ring.ranks()));
    for (auto first = messages.begin(); first != messages.end();) {
        LinkLoads loads(places);
        const int step = first->step;
        steps.resize(std::max(steps.size(), static_cast<std::size_t>(step) + 1));
        LinkStep& figures = steps[static_cast<std::size_t>(step)];
        for (; first != messages.end() && first->step == step; ++first) {
            const Port port{first->port.index - 2 * dimension};
            loads.add(first->from, first->to, first->blocks, port);
            figures.hops = std::max(figures.hops, ring.route_length(first->from, first->to));
            InStep& leaving = through[2 * static_cast<std::size_t>(first->from) +
                                      static_cast<std::size_t>(port.index)];
            leaving = {step, leaving.step == step ? leaving.messages + 1 : 1};
            figures.through_port = std::max(figures.through_port, leaving.messages);
        }
        figures.load = std::max(figures.load, loads.largest());
    }
}

}  // namespace

CostSummary summarize_axis_messages(const Torus& torus, const Algorithm& algorithm) {
    LinkSteps links;
    Block blocks = 1;
    for (int j = 0; j < torus.dimensions(); ++j) {
        AxisMessages axis = algorithm.axis_messages(torus, j);
        std::ranges::stable_sort(axis.messages, {}, &AxisMessage::step);
        links.parts = axis.parts;
        blocks = axis.blocks_of_part;
        add_axis(Torus({torus.size(j)}, {torus.is_line(j)}), j, axis.messages, links.steps);
    }
    return summarize_links(torus, links, blocks);
}

CostSummary summarize_links(const Torus& torus, const LinkSteps& links, std::int64_t blocks) {
    CostSummary result;
    result.parts = links.parts;
    const double blocks_of_vector = static_cast<double>(blocks) * links.parts;
    std::int64_t sum = 0;
    for (const auto& [load, hops, through_port] : links.steps) {
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
    result.links_only = true;
    return result;
}

}  // namespace trefoil
