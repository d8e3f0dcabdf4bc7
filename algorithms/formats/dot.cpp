// SPDX-License-Identifier: BSD-3-Clause
// Time goes down: a row of ranks before each step, and one at the end.
#include <algorithm>
#include <span>
#include <string>

#include "algorithms/formats/export_text.hpp"
#include "algorithms/formats/formats.hpp"

namespace trefoil {

namespace {

constexpr std::size_t dot_message_bytes = 60;

std::string node(Rank rank, std::size_t step) {
    return "r" + std::to_string(rank) + "s" + std::to_string(step);
}

std::string blocks_text(std::span<const Extent> extents) {
    std::string text;
    for (const Extent& e : extents) {
        text += (text.empty() ? "" : ",") + std::to_string(e.first);
        if (e.count > 1) {
            text += "-" + std::to_string(e.first + e.count - 1);
        }
    }
    return text.empty() ? "signal" : text;
}

}  // namespace

std::string dot_text(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options) {
    const auto all = schedules_to_export(torus, algorithm, options, "dot", dot_message_bytes);
    std::size_t steps = 0;
    for (const Part& part : all.front().parts) {
        steps = std::max<std::size_t>(steps, part.steps.count);
    }
    std::string text = "digraph \"" + std::string(to_string(algorithm.collective)) + " by " +
                       std::string(algorithm.name) + " on " + torus.name() +
                       "\" {\n  node [shape=box];\n";
    for (std::size_t s = 0; s <= steps; ++s) {
        text += "  { rank=same;";
        for (Rank r = 0; r < torus.ranks(); ++r) {
            text += " " + node(r, s) + " [label=\"" + std::to_string(r) + "\"];";
        }
        text += " }\n";
        require_small(text, "dot");
    }
    for (const Schedule& schedule : all) {
        for (std::size_t s = 0; s < steps; ++s) {
            text += "  " + node(schedule.rank, s) + " -> " + node(schedule.rank, s + 1) +
                    " [style=dotted, arrowhead=none, weight=9];\n";
        }
        for (std::size_t p = 0; p < schedule.parts.size(); ++p) {
            const auto of_part = schedule.of(schedule.parts[p]);
            for (std::size_t s = 0; s < of_part.size(); ++s) {
                for (const Send& send : schedule.sends_of(of_part[s])) {
                    text += "  " + node(schedule.rank, s) + " -> " + node(send.peer, s + 1) +
                            " [label=\"" + std::to_string(p) + ": " +
                            blocks_text(schedule.extents_of(send)) + "\", tooltip=\"part " +
                            std::to_string(p) + ", port " + to_string(send.port) + "\"];\n";
                }
            }
        }
        require_small(text, "dot");
    }
    return text + "}\n";
}

}  // namespace trefoil
