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

/// Of one step, over the axes.
struct AxisStep {
    std::int64_t load = 0;  // in halves of a block
    std::int64_t hops = 0;
};

/// How many messages leave through one port in one step, at most; the messages are in the order
/// of their steps.
int most_through_a_port(std::span<const AxisMessage> messages, Rank size) {
    struct InStep {
        int step = -1, messages = 0;
    };
    std::vector<InStep> through(2 * static_cast<std::size_t>(size));
    int most = 0;
    for (const AxisMessage& m : messages) {
        InStep& port = through[2 * static_cast<std::size_t>(m.from) + (m.port.sign() > 0 ? 0 : 1)];
        port = {m.step, port.step == m.step ? port.messages + 1 : 1};
        most = std::max(most, port.messages);
    }
    return most;
}

/// Adds the messages of one axis, which are sorted by step.
void add_axis(const Torus& ring, int dimension, std::span<const AxisMessage> messages,
              std::vector<AxisStep>& steps) {
    const Symmetry none(ring);
    const LinkPlaces places(ring, none);
    for (auto first = messages.begin(); first != messages.end();) {
        LinkLoads loads(places);
        const int step = first->step;
        steps.resize(std::max(steps.size(), static_cast<std::size_t>(step) + 1));
        AxisStep& figures = steps[static_cast<std::size_t>(step)];
        for (; first != messages.end() && first->step == step; ++first) {
            loads.add(first->from, first->to, first->blocks,
                      Port{first->port.index - 2 * dimension});
            figures.hops = std::max(figures.hops, ring.route_length(first->from, first->to));
        }
        figures.load = std::max(figures.load, loads.largest());
    }
}

}  // namespace

CostSummary summarize_axis_messages(const Torus& torus, const Algorithm& algorithm) {
    CostSummary result;
    std::vector<AxisStep> steps;
    double blocks_of_vector = 1;
    for (int j = 0; j < torus.dimensions(); ++j) {
        AxisMessages axis = algorithm.axis_messages(torus, j);
        std::ranges::stable_sort(axis.messages, {}, &AxisMessage::step);
        result.parts = axis.parts;
        blocks_of_vector = static_cast<double>(axis.blocks_of_part) * axis.parts;
        result.max_sends_per_port_per_step = std::max(
            result.max_sends_per_port_per_step, most_through_a_port(axis.messages, torus.size(j)));
        add_axis(Torus({torus.size(j)}, {torus.is_line(j)}), j, axis.messages, steps);
    }
    std::int64_t sum = 0;
    for (const auto& [load, hops] : steps) {
        if (hops > 0) {  // somebody sends
            result.step_max_link_load.push_back(static_cast<double>(load) / (2 * blocks_of_vector));
            result.step_max_hops.push_back(static_cast<int>(hops));
            sum += load;
            result.sum_hops += hops;
        }
    }
    result.sum_link_load = static_cast<double>(sum) / (2 * blocks_of_vector);
    result.steps = static_cast<int>(result.step_max_hops.size());
    result.links_only = true;
    return result;
}

}  // namespace trefoil
